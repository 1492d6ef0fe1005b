import type { Tier } from "../models/modelTable.ts";
import type { Complexity } from "../triage/complexity.ts";

/** How hard a task was found to be, kept so that a process that goes on does not find otherwise. */
export type Triage = {
  complexity: Complexity;
  classifier: { model: string; value: number } | null;
  tier: Tier;
};

/** What is told of the work on a task up to now. */
export type WorkState = {
  triage?: Triage | undefined;
  tier: Tier | null;
  escalations: { from: Tier; why: string }[];
  confidence: { from: "model" | "verifier" | "samples"; samples: number } | null;
  shadow: { why: string[]; share: number; model: string | null } | null;
};
