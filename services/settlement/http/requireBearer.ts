import { TallystickError } from "tallystick-protocol/errors";
import type { ApiKey, ApiKeys } from "../keys/apiKeys.ts";

/** The key in `Authorization: Bearer <key>`, undefined when there is none. */
export function bearerKey(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

/** Whether `Authorization: Bearer <key>` has a key that the operator issued. */
export async function hasBearer(authorization: string | undefined, keys: ApiKeys): Promise<boolean> {
  const given = bearerKey(authorization);
  return given !== undefined && (await keys.find(given)) !== undefined;
}

/**
 * Checks `Authorization: Bearer <key>` against the keys that the operator issued (swarm.at §7).
 *
 * @returns the key's owner
 * @throws TallystickError `unauthorized` (401); also when the operator has issued none
 */
export async function requireBearer(authorization: string | undefined, keys: ApiKeys): Promise<ApiKey> {
  const given = bearerKey(authorization);
  const known = given === undefined ? undefined : await keys.find(given);
  if (known !== undefined) return known;
  throw new TallystickError({
    code: "unauthorized",
    message: given === undefined ? "This route needs an API key." : "This API key is not known here.",
    hint: "Send Authorization: Bearer <key>. The operator makes a key with: tallystick keys add NAME",
  });
}
