import type { ContextSlice } from "tallystick-sdk/contextSlice";
import type { Draft } from "tallystick-sdk/settle";
import { shadowAudit } from "tallystick-sdk/shadowAudit";
import { verifyApart } from "tallystick-sdk/verification/verifyApart";
import type { Model, ModelTable, Tier } from "../models/modelTable.ts";
import { dataUpdateOf, type Task } from "../tasks/task.ts";
import type { WorkState } from "../tasks/workState.ts";
import { cheapestFor, shadowsFor } from "../triage/chooseModel.ts";
import { type CallContext, callModel, promptTokens } from "./callModel.ts";
import { answerSchema, executorPrompt } from "./executorPrompt.ts";
import type { Answer } from "./readAnswer.ts";

/** The work of a tier cannot be proposed. The next tier has to do it. */
export class DraftFault extends Error {}

export type DraftParameters = {
  task: Task;
  table: ModelTable;
  tier: Tier;
  /** The reasons why a shadow is needed. Without a reason there is no shadow. */
  shadowReasons: string[];
  coreLogic: unknown;
  calls: CallContext;
  /** Called with the result of the work, for its metadata. */
  tell: (state: Partial<WorkState>) => void;
};

/**
 * Does a task on one tier with the given context. The tier's cheapest model with enough room answers. The answer must
 * have the right form and pass the capability's checks. If there are `shadowReasons`, a model of another family does
 * the task too.
 *
 * @throws DraftFault; CallBudgetError; the signal's reason
 */
export async function makeDraft(parameters: DraftParameters, context: ContextSlice): Promise<Draft> {
  const { task, table, tier, shadowReasons, coreLogic, calls, tell } = parameters;
  const schema = answerSchema(task.outputSchema) as { [keyword: string]: unknown };
  // Each model gets its own marks.
  const promptNow = () => executorPrompt({ task, schema, slice: context.slice, coreLogic });
  const bytes = promptTokens(promptNow(), schema);
  const model = cheapestFor(table.tiers[tier], bytes);
  if (model === undefined) throw new DraftFault("no model of the tier can hold the task");
  const step = `${context.contextHash.slice(0, 16)}/${tier}`;
  const ask = (role: "execute" | "shadow", by: Model, name: string): Promise<Answer> =>
    callModel(calls, `${step}/${name}`, { role, tier, model: by, prompt: promptNow(), schema });

  const execute = async (): Promise<Draft> => {
    const answers: { answer: unknown; confidence: number }[] = [];
    let fault = "";
    for (let sample = 0; sample < task.samples; sample++) {
      const answer = await ask("execute", model, `execute-${sample}`);
      calls.signal.throwIfAborted();
      if ("fault" in answer) fault = answer.fault;
      else answers.push(answer);
    }
    const [best] = mostAgreed(answers);
    if (best === undefined) throw new DraftFault(`${model.name}: ${fault}`);
    const isVerified = await verify(task, best.answer);
    if (isVerified === false) throw new DraftFault(`${model.name}: fails the checks of ${task.capability}`);
    const agreed = Math.floor((1_000 * best.count) / task.samples) / 1_000;
    const confidenceScore = task.samples > 1 ? agreed : isVerified ? 1 : best.confidence;
    const from = task.samples > 1 ? "samples" : isVerified ? "verifier" : "model";
    tell({ confidence: { from, samples: task.samples } });
    return { dataUpdate: dataUpdateOf(task, best.answer), confidenceScore };
  };

  const shadow = async (): Promise<Draft> => {
    let fault = "no model of another family can hold the task";
    for (const by of shadowsFor(table.shadow?.models ?? [], model.family, bytes)) {
      const answer = await ask("shadow", by, `shadow-${by.name}`);
      calls.signal.throwIfAborted();
      if ("fault" in answer) {
        fault = `${by.name}: ${answer.fault}`;
        continue;
      }
      tell({ shadow: { why: shadowReasons, share: (table.shadow?.share ?? 0) / 1_000, model: by.name } });
      return { dataUpdate: dataUpdateOf(task, answer.answer), confidenceScore: answer.confidence };
    }
    throw new DraftFault(`shadow: ${fault}`);
  };

  return await shadowAudit(execute, { shadow, when: () => shadowReasons.length > 0 })(context);
}

/** Whether a capability's checks pass; undefined without a capability. */
async function verify({ capability, params }: Task, result: unknown): Promise<boolean | undefined> {
  if (capability === undefined) return undefined;
  return (await verifyApart({ capability, params: params ?? {}, result })).all_passed;
}

/** Groups equal answers. The largest group comes first, and among equal groups the earliest. */
function mostAgreed(answers: { answer: unknown; confidence: number }[]) {
  const groups = new Map<string, { answer: unknown; confidence: number; count: number }>();
  for (const one of answers) {
    const key = sameKey(one.answer);
    const group = groups.get(key);
    if (group) group.count++;
    else groups.set(key, { ...one, count: 1 });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** JSON with sorted keys. The canonical JSON of records cannot be used, because it refuses fractions. */
function sameKey(value: unknown): string {
  return JSON.stringify(value, (_, it) =>
    it !== null && typeof it === "object" && !Array.isArray(it)
      ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
      : it,
  );
}
