import type { FieldValues } from "./publishedField.ts";
import type { FieldName, publishedFields } from "./publishedFields.ts";

/**
 * An agent's public fields, as of the last tick (SHP §9.2). Rates and averages are null when there is nothing to
 * divide.
 */
export type Reputation = { [F in FieldName]: FieldValues[(typeof publishedFields)[F]["type"]] };
