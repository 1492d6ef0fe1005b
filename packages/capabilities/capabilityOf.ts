import { isCapability, isCustomCapability } from "tallystick-protocol/capability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { loadFamily } from "./catalogue.ts";
import type { AnyCapability } from "./defineCapability.ts";
import { capabilityProblem, type FamilyId, findFamily } from "./taxonomy.ts";

/** A capability, with the values of the placeholders in one id: `{source: "en", target: "it"}`. */
export type FoundCapability = { capability: AnyCapability; parts: { [placeholder: string]: string } };

/** Loads the standard capability that `id` belongs to; undefined when there is none. @throws as {@link loadFamily} */
export async function capabilityOf(id: string): Promise<AnyCapability | undefined> {
  return (await findCapability(id))?.capability;
}

/** As {@link capabilityOf}, with the values of the id's placeholders. */
export async function findCapability(id: string): Promise<FoundCapability | undefined> {
  const found = findFamily(id);
  return found && { capability: await loadFamily(found.family.id as FamilyId), parts: found.parts };
}

/**
 * As {@link findCapability}, for ids that must be standard ones.
 *
 * @throws InvalidInputError `invalid_capability` when it is not a capability id at all
 * @throws TallystickError `custom_capability` for `custom.*`, `unknown_capability` for anything else
 */
export async function requireCapability(id: string): Promise<FoundCapability> {
  const found = await findCapability(id);
  if (found) return found;
  if (!isCapability(id)) {
    const message = "must be lower-case segments joined by dots, like text.translate.en.it";
    throw new InvalidInputError({ code: "invalid_capability", issues: [{ field: "capability", message }] });
  }
  if (isCustomCapability(id)) {
    throw new TallystickError({
      code: "custom_capability",
      message: `${id} has the schemas that its seller publishes.`,
      hint: "Fetch these schemas from ENDPOINT/capabilities/ID/schema and use verifyCustomOutput.",
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
