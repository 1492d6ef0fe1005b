import { TallystickError } from "tallystick-protocol/errors";
import type { Fetch } from "../requestService.ts";

/** Opens connections to strangers. Each platform has its own implementation, behind the import `#connections`. */
export type OpenConnections = (rules: {
  isPublic: (address: string) => boolean;
  /** Resolves a name to its addresses. Default: by DNS, where the platform allows this. */
  resolve: ((host: string) => Promise<string[]>) | undefined;
  /** The longest wait for the headers, and for each next part of a body, in milliseconds. */
  timeoutMs: number;
}) => Fetch;

export function privateAddress(message: string): TallystickError {
  return new TallystickError({
    code: "private_address",
    message,
    hint: "On a local network set devMode.",
  });
}
