import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { TallystickError } from "tallystick-protocol/errors";
import { fetchContextSlice } from "tallystick-sdk/contextSlice";
import { ServiceError } from "tallystick-sdk/requestService";
import { type SettleResult, settle } from "tallystick-sdk/settle";
import { CallBudgetError } from "../budget/callBudget.ts";
import { type CallContext, callModel } from "../execute/callModel.ts";
import { DraftFault, makeDraft } from "../execute/makeDraft.ts";
import { TIERS, type Tier, tierOf } from "../models/modelTable.ts";
import { isKeyRefusal } from "../settlementKey.ts";
import { classifierPrompt, classifierSchema } from "../triage/classifierPrompt.ts";
import { complexity } from "../triage/complexity.ts";
import { readSettlementRules, type SettlementRules } from "../triage/settlementRules.ts";
import type { Outcome, Unfinished } from "./outcome.ts";
import { type OutcomeTotals, outcomeTotals } from "./outcomeTotals.ts";
import { answerIn, type Task } from "./task.ts";
import { bookOf, nameOf, type TaskFile } from "./taskFile.ts";
import { taskMetadata } from "./taskMetadata.ts";
import type { Triage, WorkState } from "./workState.ts";
import type { World } from "./world.ts";

/**
 * The most requests to models for one task. Each makes a record, and one proposal must hold all of these
 * records.
 */
const MAX_CALLS = 24;
const MAX_PAUSE_MS = 15_000;

/** The result of a task before it is closed. */
export type Ended = { outcome: Outcome } | Unfinished;

/** One task on its way from triage to settlement. */
export class TaskRun {
  readonly #world: World;
  readonly #task: Task;
  readonly #signal: AbortSignal;
  #file: TaskFile;
  readonly #state: WorkState;

  constructor(world: World, task: Task, file: TaskFile, signal: AbortSignal) {
    this.#world = world;
    this.#task = task;
    this.#file = file;
    this.#signal = signal;
    const { triage } = file;
    this.#state = file.state ?? { tier: null, escalations: [], confidence: null, shadow: null, triage };
  }

  /** The record of the work so far. It becomes a part of the task's metadata in the ledger. */
  get state(): WorkState {
    return this.#state;
  }

  get file(): TaskFile {
    return this.#file;
  }

  /**
   * Does the task, tier by tier, until settlement has answered finally or no tier is left.
   *
   * @throws errors that do not end the task, such as TaskStopped and SettlementKeyRefused. The task is continued later
   */
  async run(): Promise<Ended> {
    try {
      await this.#world.settlementKey.require(this.#signal);
      const rules = await this.#retryUntilAvailable(() =>
        readSettlementRules(this.#world.settlement, this.#signal),
      );
      const triage = await this.#triage();
      let last: Ended = { status: "FAILED", reason: "no tier was asked" };
      for (const tier of TIERS.slice(TIERS.indexOf(triage.tier))) {
        this.#state.tier = tier;
        const ended = await this.#onTier(tier, rules);
        if (!("escalate" in ended)) return ended;
        last = { status: ended.as, reason: ended.escalate };
        if (tier !== "premium") this.#state.escalations.push({ from: tier, why: ended.escalate });
      }
      return last;
    } catch (error) {
      return this.#endedBy(error);
    }
  }

  async #triage(): Promise<Triage> {
    const { table, settlement, recordOf } = this.#world;
    if (this.#file.triage) return this.#file.triage;
    const { goal, params, outputSchema, keywords, kind } = this.#task;
    const { baseUrl, fetch } = settlement;
    const asked = { baseUrl, keywords, signal: this.#signal, ...(fetch && { fetch }) };
    const { slice } = await this.#retryUntilAvailable(() => fetchContextSlice(asked));
    const prompt = params === undefined ? goal : `${goal}\n${JSON.stringify(params)}`;
    const contextBytes = Buffer.byteLength(JSON.stringify(slice));
    const found = complexity({
      prompt,
      contextBytes,
      record: await recordOf(kind, this.#signal),
      ...(outputSchema !== undefined && { outputSchema }),
    });
    const model = table.classifier;
    let classifier: Triage["classifier"] = null;
    if (model) {
      const schema = classifierSchema;
      const call = { role: "classify" as const, tier: null, model, prompt: classifierPrompt(prompt), schema };
      const said = await callModel(this.#calls(), "classify", call);
      this.#signal.throwIfAborted();
      if (!("fault" in said)) classifier = { model: model.name, value: said.answer as number };
    }
    const triage: Triage = { complexity: found, classifier, tier: tierOf(classifier?.value ?? found.value) };
    this.#file = await this.#change((file) => ({ ...file, triage }));
    this.#state.triage = triage;
    return triage;
  }

  /** Proposes the work of one tier; `escalate` says why the next tier has to do it. */
  async #onTier(
    tier: Tier,
    rules: SettlementRules,
  ): Promise<Ended | { escalate: string; as: "FAILED" | "REJECTED" }> {
    const { table, settlement } = this.#world;
    const shadowReasons = await this.#shadowReasons(tier, rules);
    this.#state.shadow = null;
    this.#state.confidence = null;
    let answer: unknown = null;
    const work = async (context: Parameters<typeof makeDraft>[1]) => {
      const draft = await makeDraft(
        {
          task: this.#task,
          table,
          tier,
          shadowReasons,
          coreLogic: rules.coreLogic,
          calls: this.#calls(),
          tell: (told) => Object.assign(this.#state, told),
        },
        context,
      );
      answer = answerIn(this.#task, draft.dataUpdate);
      return { ...draft, agentMetadata: taskMetadata(this.#world, this.#task, this.#file, this.#state) };
    };
    try {
      const result = await this.#retryUntilAvailable(() =>
        settle({
          ...settlement,
          taskId: nameOf(this.#file),
          keywords: this.#task.keywords,
          work,
          proposedOn: this.#file.proposedOn,
          onProposing: async ({ parentHash }) => {
            this.#file = await this.#change((file) =>
              file.proposedOn.includes(parentHash) && isDeepStrictEqual(file.answer, answer)
                ? file
                : { ...file, proposedOn: [...new Set([...file.proposedOn, parentHash])], answer },
            );
          },
          signal: this.#signal,
        }),
      );
      return this.#endedAs(result, tier);
    } catch (error) {
      if (error instanceof DraftFault) return { escalate: error.message.slice(0, 200), as: "FAILED" };
      throw error;
    }
  }

  #endedAs(result: SettleResult, tier: Tier): Ended | { escalate: string; as: "REJECTED" } {
    if (result.status === "ESCROWED") {
      const { reason, id, divergence } = result;
      return { status: "ESCROWED", reason, held: id, divergence };
    }
    // If every attempt fails because the ledger changed in between, no model is at fault. Another tier would fail in
    // the same way.
    if (result.status === "REJECTED") {
      const isDrift = result.reason.startsWith("State drift");
      return isDrift
        ? { status: "REJECTED", reason: result.reason }
        : { escalate: result.reason.slice(0, 200), as: "REJECTED" };
    }
    // It is in the file even if an earlier process proposed it.
    const base = { ...this.totals(), tier, answer: this.#file.answer ?? null };
    if (result.status === "VALIDATED") return { outcome: { ...base, status: "VALIDATED" } };
    const { hash, index, timestamp } = result;
    const shadowed = this.#state.shadow !== null;
    return { outcome: { ...base, status: "SETTLED", hash, index, timestamp, shadowed } };
  }

  /** The fields of every outcome. */
  totals(): OutcomeTotals {
    return outcomeTotals(this.#file, this.#state);
  }

  /** The reasons why the task gets a shadow; none if it gets no shadow. Private tasks never get one. */
  async #shadowReasons(tier: Tier, rules: SettlementRules): Promise<string[]> {
    const { shadow } = this.#world.table;
    const { isPrivate, action } = this.#task;
    if (shadow === undefined || isPrivate) return [];
    // The draw is random. Otherwise a client could choose an id that is not drawn. A number is drawn only once, even
    // if the task starts again.
    let drawn = this.#file.draws.shadow;
    if (drawn === undefined) {
      const number = this.#world.random();
      this.#file = await this.#change((file) => ({ ...file, draws: { ...file.draws, shadow: number } }));
      drawn = number;
    }
    return [
      ...(rules.asksShadow(action) ? ["action"] : []),
      ...(shadow.tiers.includes(tier) ? ["tier"] : []),
      ...(drawn * 1_000 < shadow.share ? ["drawn"] : []),
    ];
  }

  #calls(): CallContext {
    const { budget, openModel, spans, now, settlementKey } = this.#world;
    return {
      openModel,
      budget,
      spans,
      now,
      task: bookOf(this.#file),
      taskLimit: this.#task.maxCost,
      signal: this.#signal,
      finished: (step) => this.#file.calls[step],
      requireKey: () => settlementKey.require(this.#signal),
      requireRoom: () => {
        if (Object.keys(this.#file.calls).length < MAX_CALLS) return;
        throw new DraftFault(`${MAX_CALLS} requests to models were not enough`);
      },
      finish: async (step, call) => {
        this.#file = await this.#change((file) => ({ ...file, calls: { ...file.calls, [step]: call } }));
      },
    };
  }

  #change(next: (file: TaskFile) => TaskFile): Promise<TaskFile> {
    return this.#world.files.change(this.#file, next);
  }

  /**
   * Waits until a settlement service that is busy or unreachable answers, at most until the deadline of the
   * task.
   */
  async #retryUntilAvailable<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ServiceError) || !isPassing(error)) throw error;
        this.#world.log("Settlement does not answer. The task waits.", { task: this.#task.taskId, error });
        const pause = Math.min(MAX_PAUSE_MS, 500 * 2 ** attempt);
        await wait(pause, undefined, { signal: this.#signal }).catch(() => this.#signal.throwIfAborted());
      }
    }
  }

  #endedBy(error: unknown): Ended {
    if (this.#signal.aborted) {
      const reason: unknown = this.#signal.reason;
      if (reason instanceof TaskStopped) throw reason;
      if (reason instanceof TaskCancelled) return { status: "CANCELLED", reason: reason.message };
      return { status: "EXPIRED", reason: "The deadline of the task has passed." };
    }
    if (error instanceof CallBudgetError) return { status: "BUDGET", reason: error.message };
    if (error instanceof DraftFault) return { status: "FAILED", reason: error.message };
    // The task stays open. If settlement takes the key again before the deadline, and the slice of the shared state is
    // still the same, the stored answers of the models are proposed.
    if (error instanceof ServiceError && !isKeyRefusal(error))
      return { status: "FAILED", reason: `Settlement: ${error.code}` };
    throw error;
  }
}

/**
 * Whether settlement may answer otherwise in a while. An answer without a code is a proxy's. It blocks requests for a
 * while, or has no settlement behind it now.
 */
function isPassing(error: ServiceError): boolean {
  if (isKeyRefusal(error)) return false;
  return !error.isRefusal && (error.status !== 404 || error.code === "http_error");
}

/** The process stops. After its next start it continues the task. Code `dispatcher_closed`. */
export class TaskStopped extends TallystickError {
  constructor() {
    super({
      code: "dispatcher_closed",
      message: "The dispatcher stops.",
      hint: "Send the same task again: finished work is not repeated.",
    });
  }
}

/** The client cancelled the task. */
export class TaskCancelled extends Error {}
