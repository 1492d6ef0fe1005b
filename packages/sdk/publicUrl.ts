import { TallystickError } from "tallystick-protocol/errors";
import { addressProblem } from "tallystick-protocol/net/publicAddress";

/**
 * Refuses URLs that lead into a private network. It looks only at the text of the URL: see `addressProblem`.
 * The address that a name resolves to is checked later, by `createPublicFetch`.
 *
 * @throws TallystickError `private_address`
 */
export function requirePublicUrl(text: string, field: string): void {
  const problem = addressProblem(text);
  if (!problem) return;
  throw new TallystickError({
    code: "private_address",
    message: `${field}: ${problem}`,
    field,
    hint: "On a local network set devMode.",
  });
}
