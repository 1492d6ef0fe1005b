import type { Tier } from "../models/modelTable.ts";
import type { Complexity } from "../triage/complexity.ts";

/** The estimated difficulty of a task, stored so that a later process uses the same. */
export type Triage = {
  complexity: Complexity;
  classifier: { model: string; value: number } | null;
  tier: Tier;
};

/** The record of the work on a task so far. */
export type WorkState = {
  triage?: Triage | undefined;
  tier: Tier | null;
  escalations: { from: Tier; why: string }[];
  confidence: { from: "model" | "verifier" | "samples"; samples: number } | null;
  shadow: { why: string[]; share: number; model: string | null } | null;
};
