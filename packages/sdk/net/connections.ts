import { TallystickError } from "tallystick-protocol/errors";
import type { Fetch } from "../requestService.ts";

/** How the connections to strangers are opened. Each platform has its own way, behind `#connections`. */
export type OpenConnections = (rules: {
  isPublic: (address: string) => boolean;
  /** The addresses of a name. Default: by DNS, where the platform lets one ask. */
  resolve: ((host: string) => Promise<string[]>) | undefined;
  /** How long headers, and the pauses of a body, may take, in milliseconds. */
  timeoutMs: number;
}) => Fetch;

export function privateAddress(message: string): TallystickError {
  return new TallystickError({
    code: "private_address",
    message,
    hint: "On a local network set devMode.",
  });
}
