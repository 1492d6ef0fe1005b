import { isCapability, isCustomCapability } from "../capability.ts";
import { InvalidInputError, TallystickError } from "../errors.ts";
import { catalogue } from "./catalogue.ts";
import type { AnyCapability } from "./defineCapability.ts";

/** A capability and what its placeholders stand for in one id: `{source: "en", target: "it"}`. */
export type FoundCapability = { capability: AnyCapability; parts: { [placeholder: string]: string } };

/** The standard capability that `id` belongs to, undefined when there is none. */
export function capabilityOf(id: string): AnyCapability | undefined {
  return findCapability(id)?.capability;
}

/** As {@link capabilityOf}, with the values of the id's placeholders. */
export function findCapability(id: string): FoundCapability | undefined {
  if (!isCapability(id)) return undefined;
  const segments = id.split(".");
  for (const capability of catalogue) {
    for (const pattern of capability.patterns) {
      const parts = matchPattern(pattern.split("."), segments, capability.values);
      if (parts) return { capability, parts };
    }
  }
  return undefined;
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
  const near = catalogue.filter((capability) => capability.id.split(".")[0] === id.split(".")[0]);
  throw new TallystickError({
    code: "unknown_capability",
    message: `${id} is no standard capability.`,
    hint:
      near.length > 0
        ? `There is ${near.flatMap(({ patterns }) => patterns).join(", ")}; others begin with custom.`
        : "Capabilities outside of the standard begin with custom.",
    field: "capability",
  });
}

function matchPattern(
  pattern: string[],
  segments: string[],
  values: AnyCapability["values"],
): { [placeholder: string]: string } | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parts: { [placeholder: string]: string } = {};
  for (const [at, expected] of pattern.entries()) {
    const segment = segments[at] as string;
    const placeholder = /^\{(\w+)\}$/.exec(expected)?.[1];
    if (placeholder === undefined) {
      if (segment !== expected) return undefined;
      continue;
    }
    const allowed = values[placeholder];
    if (allowed !== undefined && !allowed.includes(segment)) return undefined;
    parts[placeholder] = segment;
  }
  return parts;
}
