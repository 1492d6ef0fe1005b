import type { SchemaType } from "./schemaType.ts";
import type { chartGenerateFromData } from "./standard/chartGenerateFromData.ts";
import type { computeStatistics } from "./standard/computeStatistics.ts";
import type { textTranslate } from "./standard/textTranslate.ts";

type TypesOf<Capability extends { input: unknown; output: unknown }> = {
  input: SchemaType<Capability["input"]>;
  output: SchemaType<Capability["output"]>;
};

/**
 * The types of every standard capability's `params` and result, by its id, taken from the schemas.
 *
 * @example const result: CapabilityTypes["text.translate.en.it"]["output"] = { text: "Buongiorno" };
 */
export interface CapabilityTypes {
  [id: `text.translate.${string}`]: TypesOf<typeof textTranslate>;
  "chart.generate.from-data": TypesOf<typeof chartGenerateFromData>;
  [id: `compute.statistics.${string}`]: TypesOf<typeof computeStatistics>;
}

/** What `params` a capability takes; any object for `custom.*` and for ids known only at run time. */
export type CapabilityInput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["input"]
  : { [key: string]: unknown };

/** What a capability gives; unknown for `custom.*` and for ids known only at run time. */
export type CapabilityOutput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["output"]
  : unknown;
