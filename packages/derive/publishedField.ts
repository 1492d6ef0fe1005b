import type { BucketName } from "./buckets.ts";
import type { CapabilityPrice } from "./fieldValues.ts";
import type { Row } from "./tables.ts";

/** The TypeScript type of each kind of field, with its unit. */
export type FieldValues = {
  /** A block number. */
  block: number;
  /** Unix seconds. */
  time: number;
  /** A whole number. */
  count: number;
  /** A sum of weights: each hire counts 1, or 1/n inside a cluster of n. */
  weight: number;
  /** A share from 0 to 1; null when there is nothing to divide by. */
  rate: number | null;
  /** Milliseconds; null when none is known. */
  latency: number | null;
  /** 1 to 5; null without ratings. */
  stars: number | null;
  /** USDC, a decimal string with at least two decimals. */
  usdc: string;
  /** Capability → USDC. */
  prices: { [capability: string]: string };
  text: string;
  texts: string[];
  flag: boolean;
  /** The id of something else; null without one. */
  id: string | null;
};

export type FieldType = keyof FieldValues;

/** The unit of each kind. */
export const units: { [T in FieldType]: string } = {
  block: "block number",
  time: "unix seconds",
  count: "whole number",
  weight: "sum of weights",
  rate: "share, 0 to 1",
  latency: "ms",
  stars: "1 to 5",
  usdc: "USDC",
  prices: "USDC",
  text: "text",
  texts: "list of texts",
  flag: "true or false",
  id: "id",
};

/** What a field is computed from: the agent's own row, its prices, and the cluster that counts for it. */
export type FieldSources = {
  agent: Row<"agent">;
  /** The agent's rows of `capability`. Rows without hires in the window do not matter. */
  prices: CapabilityPrice[];
  /** Null when the agent is in no cluster. */
  cluster: Pick<Row<"cluster">, "id" | "size"> | null;
};

/** Which rows a figure counts. Readers can then be shown these rows. */
export type Counted = {
  /** The parameter with the length of its window. */
  window?: "windowSeconds" | "volumeWindowSeconds";
  /** Which hires of the window count. */
  hires?: "all" | "rated" | "direct" | "escrow" | "contested" | "timed" | "priced";
  /** The agent's side of these hires. Default: seller. */
  side?: "seller" | "buyer";
  ratings?: "window" | "all";
};

/** One published field of an agent. */
export type PublishedField<T extends FieldType = FieldType> = {
  type: T;
  /** One sentence for people who read an answer. */
  description: string;
  /** The rule in full. w is a hire's weight. */
  formula: string;
  /** Where it is specified. */
  section: string;
  /** The evidence for it: on-chain, receipt, telemetry, audit or registry (SHP §9.2). */
  source: string[];
  /** How soon a change shows. */
  cadence: string;
  /**
   * Its coarse form, used while a live listing of the agent asks for private metrics. A field without a
   * coarse form is always exact.
   */
  bucket?: BucketName;
  /** The columns of the agent's row that it needs. */
  columns: (keyof Row<"agent">)[];
  value: (from: FieldSources) => FieldValues[T];
  /** Exact numbers, as the derivation keeps them. */
  numerator?: (agent: Row<"agent">) => string;
  denominator?: (agent: Row<"agent">) => string;
  counts?: Counted;
};

/** Returns the entry as it is. TypeScript infers the type of the field's value from this call. */
export function field<T extends FieldType>(entry: PublishedField<T>): PublishedField<T> {
  return entry;
}
