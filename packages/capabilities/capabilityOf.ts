import { isCapability, isCustomCapability } from "tallystick-protocol/capability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { catalogue } from "./catalogue.ts";
import type { AnyCapability } from "./defineCapability.ts";
import { capabilityProblem, findFamily } from "./taxonomy.ts";

/** A capability and what its placeholders stand for in one id: `{source: "en", target: "it"}`. */
export type FoundCapability = { capability: AnyCapability; parts: { [placeholder: string]: string } };

const byId = new Map(catalogue.map((capability) => [capability.id, capability]));

/** The standard capability that `id` belongs to, undefined when there is none. */
export function capabilityOf(id: string): AnyCapability | undefined {
  return findCapability(id)?.capability;
}

/** As {@link capabilityOf}, with the values of the id's placeholders. */
export function findCapability(id: string): FoundCapability | undefined {
  const found = findFamily(id);
  const capability = found && byId.get(found.family.id);
  return capability && { capability, parts: found.parts };
}

/**
 * As {@link findCapability}, for ids that must be standard ones.
 *
 * @throws InvalidInputError `invalid_capability` when it is no capability id at all
 * @throws TallystickError `custom_capability` for `custom.*`, `unknown_capability` for anything else
 */
export function requireCapability(id: string): FoundCapability {
  const found = findCapability(id);
  if (found) return found;
  if (!isCapability(id)) {
    const message = "must be lower-case segments joined by dots, like text.translate.en.it";
    throw new InvalidInputError({ code: "invalid_capability", issues: [{ field: "capability", message }] });
  }
  if (isCustomCapability(id)) {
    throw new TallystickError({
      code: "custom_capability",
      message: `${id} has the schemas that its seller publishes.`,
      hint: "Fetch them from ENDPOINT/capabilities/ID/schema and use verifyCustomOutput.",
      field: "capability",
    });
  }
  const problem = capabilityProblem(id);
  throw new TallystickError({
    code: "unknown_capability",
    message: `${id} ${problem?.message}.`,
    hint: problem?.hint,
    field: "capability",
  });
}
