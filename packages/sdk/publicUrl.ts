import { TallystickError } from "tallystick-protocol/errors";
import { addressProblem } from "tallystick-protocol/net/publicAddress";

/**
 * Refuses addresses that lead into one's own network, by what is written: see `addressProblem`. What a name resolves to
 * is checked by `createPublicFetch` when it is called.
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
