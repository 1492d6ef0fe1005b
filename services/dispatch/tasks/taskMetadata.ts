import { z } from "zod";
import { type Model, type ModelTable, TIERS } from "../models/modelTable.ts";
import { callRecordSchema } from "./callRecord.ts";
import { recordedPricesSchema, recordPrices } from "./recordedPrices.ts";
import type { Task } from "./task.ts";
import type { TaskFile } from "./taskFile.ts";
import type { WorkState } from "./workState.ts";

/** The version of a dispatcher's records in the ledger. */
export const METADATA_FORM = 1;

const short = z.string().max(256);
const tier = z.enum(TIERS);

/** The content of a proposal's `agent_metadata.dispatch`: everything that a report is computed from. */
export const taskMetadataSchema = z.object({
  form: z.literal(METADATA_FORM),
  dispatcher: short,
  kind: short,
  client: short,
  private: z.boolean(),
  complexity: z.object({
    version: short,
    value: z.number().min(0).max(1),
    features: z.record(z.string(), z.number()),
    /** The answer of a classifier, if one was asked. Then the tier follows from this value. */
    classifier: z.object({ model: short, value: z.number().min(0).max(1) }).nullable(),
  }),
  /** The tier that did the task; null when none was asked. */
  tier: tier.nullable(),
  escalations: z.array(z.object({ from: tier, why: short })).max(TIERS.length),
  confidence: z.object({ from: z.enum(["model", "verifier", "samples"]), samples: z.int() }).nullable(),
  shadow: z.object({ why: z.array(short).max(4), share: z.number(), model: short.nullable() }).nullable(),
  calls: z.array(callRecordSchema).max(64),
  /**
   * Prices when the entry was made, in dollars for a million tokens, by model. The table has every model that was
   * asked and is still known, and the model `premium`, whose prices estimate the cost of always asking a premium model.
   */
  prices: z.object({
    dated: short,
    premium: short,
    models: z.record(z.string(), recordedPricesSchema),
  }),
  /** Only in a closing entry: how the task ended. The task has no other entry, or has none yet. */
  closing: z.object({ status: short, reason: short, held: short.nullable() }).optional(),
});

export type TaskMetadata = z.output<typeof taskMetadataSchema>;

/** Makes `agent_metadata` of a proposal or a closing entry. */
export function taskMetadata(
  { table, dispatcher }: { table: ModelTable; dispatcher: string },
  task: Pick<Task, "kind" | "client" | "isPrivate">,
  file: Pick<TaskFile, "calls">,
  state: WorkState,
  closing?: TaskMetadata["closing"],
): { model: string; version: string; dispatch: TaskMetadata } {
  const calls = Object.values(file.calls)
    .filter(({ isFree }) => !isFree)
    .map(({ record }) => record)
    .sort((a, b) => a.started_at - b.started_at);
  const premium = table.tiers.premium[0] as Model;
  const asked = new Set([premium.name, ...calls.map(({ model }) => model)]);
  const prices = Object.fromEntries(
    [...table.models]
      .filter(([name]) => asked.has(name))
      .map(([name, model]) => [name, recordPrices(model.prices)]),
  );
  const last = calls.findLast(({ role, ended }) => role === "execute" && ended === "answered");
  const { complexity, classifier } = state.triage ?? NOT_TRIAGED;
  return {
    model: last?.answered_by ?? "none",
    version: `tallystick-dispatch/${METADATA_FORM}`,
    dispatch: {
      form: METADATA_FORM,
      dispatcher,
      kind: task.kind,
      client: task.client,
      private: task.isPrivate,
      complexity: { ...complexity, classifier },
      tier: state.tier,
      escalations: state.escalations,
      confidence: state.confidence,
      shadow: state.shadow,
      calls,
      prices: { dated: table.dated, premium: premium.name, models: prices },
      ...(closing && { closing }),
    },
  };
}

const NOT_TRIAGED = { complexity: { version: "none", value: 0, features: {} }, classifier: null };
