import { InvalidInputError } from "tallystick-protocol/errors";
import { requireCapability } from "./capabilityOf.ts";
import { validateJson } from "./validateJson.ts";

/**
 * Checks the `params` of a hire against the capability's input schema and rules (SHP §5.2), before anything is paid.
 *
 * @throws InvalidInputError `invalid_params` naming every wrong field, `invalid_capability`; TallystickError
 * `unknown_capability`, `custom_capability`, `capability_unavailable`
 */
export async function checkInput(capabilityId: string, params: unknown): Promise<void> {
  const { capability, parts } = await requireCapability(capabilityId);
  let issues = validateJson(capability.input, params, "params");
  if (issues.length === 0) issues = capability.inputRules(params as never, parts);
  if (issues.length > 0) throw new InvalidInputError({ code: "invalid_params", issues });
}
