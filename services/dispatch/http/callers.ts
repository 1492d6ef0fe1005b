import { createHash, timingSafeEqual } from "node:crypto";
import { TallystickError } from "tallystick-protocol/errors";

/**
 * The name of the client that sent a request. The request has the key of the client in its header
 * `Authorization: Bearer <key>`.
 *
 * @param callers the key of each client, by the name of the client
 * @throws TallystickError `unauthorized` (401)
 */
export function ownerOf(authorization: string | undefined, callers: ReadonlyMap<string, string>): string {
  const given = digestOf(/^Bearer +(\S{1,512})$/i.exec(authorization ?? "")?.[1] ?? "");
  // All keys are compared in constant time, so the time of the answer reveals nothing about any key.
  const found = [...callers].filter(([, key]) => timingSafeEqual(digestOf(key), given));
  const [owner] = found[0] ?? [];
  if (owner !== undefined) return owner;
  throw new TallystickError({
    code: "unauthorized",
    message: "This route needs a key of this dispatcher.",
    hint: "Send Authorization: Bearer <key>, with a key of DISPATCH_API_KEYS.",
  });
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
