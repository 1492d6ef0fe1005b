import type { Definitions } from "./catalogue.ts";
import type { SchemaType } from "./schemaType.ts";
import type { FamilyOf, FamilyPattern } from "./taxonomy.ts";

type TypesOf<Capability extends { input: unknown; output: unknown }> = {
  input: SchemaType<Capability["input"]>;
  output: SchemaType<Capability["output"]>;
};

/** The ids of a pattern. Any text may replace `{name}`. */
type IdOf<Pattern extends string> = Pattern extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${IdOf<After>}`
  : Pattern;

type StandardTypes = {
  [Pattern in FamilyPattern as IdOf<Pattern>]: TypesOf<Definitions[FamilyOf<Pattern>]>;
};

/**
 * The types of every standard capability's `params` and result, by its id, taken from the schemas.
 *
 * @example const result: CapabilityTypes["text.translate.en.it"]["output"] = { text: "Buongiorno" };
 */
export interface CapabilityTypes extends StandardTypes {}

/**
 * The type of a capability's `params`; any object for `custom.*` and for ids that are known only at run time.
 */
export type CapabilityInput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["input"]
  : { [key: string]: unknown };

/** The type of a capability's result; unknown for `custom.*` and for ids that are known only at run time. */
export type CapabilityOutput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["output"]
  : unknown;
