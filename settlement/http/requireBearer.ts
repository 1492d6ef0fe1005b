import { createHash, timingSafeEqual } from "node:crypto";
import { TallystickError } from "../../protocol/errors.ts";

/**
 * Checks `Authorization: Bearer <key>` against the keys the operator gave out (swarm.at §7).
 *
 * @throws TallystickError `unauthorized` (401); also when the operator has given out none
 */
export function requireBearer(authorization: string | undefined, keys: readonly string[]): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (given !== undefined) {
    const digest = sha256(given);
    // All are compared, in constant time, so that the time of the answer tells nothing about any key.
    if (keys.filter((key) => timingSafeEqual(sha256(key), digest)).length > 0) return;
  }
  throw new TallystickError({
    code: "unauthorized",
    message: given === undefined ? "This route needs an API key." : "This API key is not known here.",
    hint: "Send Authorization: Bearer <key>, with a key that the operator set in SETTLEMENT_API_KEYS.",
  });
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
