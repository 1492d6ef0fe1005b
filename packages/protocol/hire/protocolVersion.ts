import { TallystickError } from "../errors.ts";

/** What this implementation says of itself in every message (SHP §2). */
export const PROTOCOL = "swarmwage/v0.3";

/** The versions whose hires are understood: one wire format (SHP §2). */
const HIRE_VERSIONS = ["swarmwage/v0.1", "swarmwage/v0.2", "swarmwage/v0.3"];

/** Since which version hires carry a nonce and the buyer's signature. */
const SIGNED_SINCE = "swarmwage/v0.3";

/** @throws TallystickError `unsupported_protocol` */
export function requireHireProtocol(protocol: unknown): void {
  if (typeof protocol === "string" && HIRE_VERSIONS.includes(protocol)) return;
  throw new TallystickError({
    code: "unsupported_protocol",
    message: `protocol: must be one of ${HIRE_VERSIONS.join(", ")}`,
    field: "protocol",
    hint: `Send "protocol": "${PROTOCOL}".`,
  });
}

/** Whether a hire of this version has to be signed; older ones count by their payment only. */
export function isSignedVersion(protocol: string): boolean {
  return protocol === SIGNED_SINCE;
}
