import type { Model, Tier } from "../models/modelTable.ts";
import type { CallRecord } from "../tasks/callRecord.ts";
import type { ExecutorPrompt } from "./executorPrompt.ts";

/** A question to a model. */
export type Call = {
  role: CallRecord["role"];
  tier: Tier | null;
  model: Model;
  prompt: ExecutorPrompt;
  /** The schema of the whole answer. */
  schema: { readonly [keyword: string]: unknown };
};
