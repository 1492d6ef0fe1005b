import { randomInt } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import { startDeadline } from "tallystick-sdk/deadline";
import { ServiceError } from "tallystick-sdk/requestService";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { type CallBudget, callBudget } from "./budget/callBudget.ts";
import type { Model, ModelTable } from "./models/modelTable.ts";
import type { Picodollars } from "./models/money.ts";
import { type OpenedModel, openModel } from "./models/openModel.ts";
import { SettlementKeyRefused, settlementKey } from "./settlementKey.ts";
import { bookLostCalls } from "./tasks/bookLostCalls.ts";
import { closeTask } from "./tasks/closeTask.ts";
import { newTaskFile } from "./tasks/newTaskFile.ts";
import type { Outcome } from "./tasks/outcome.ts";
import { outcomeTotals } from "./tasks/outcomeTotals.ts";
import { MAX_TASK_BYTES, readTask, type Task } from "./tasks/task.ts";
import { bookOf, keyOf, type TaskFile, TaskFiles, taskKey } from "./tasks/taskFile.ts";
import { taskQueue } from "./tasks/taskQueue.ts";
import { TaskCancelled, TaskRun, TaskStopped } from "./tasks/taskRun.ts";
import type { World } from "./tasks/world.ts";
import { noSpans, type Spans } from "./telemetry.ts";
import { kindRecords } from "./triage/kindRecords.ts";
import type { Settlement } from "./triage/settlementRules.ts";
import { type TwoClocks, twoClocks } from "./twoClocks.ts";

/** How long a finished task is remembered, so that its id gives the same answer again, in milliseconds. */
const REMEMBER_MS = 7 * 86_400_000;
/** The time between two searches for tasks that are open and do not run, in milliseconds. */
const SWEEP_MS = 30_000;

export type DispatcherParameters = {
  /** The content of models.yaml: `readModels(text)`. */
  models: ModelTable;
  settlement: Settlement;
  /** `fileStore(folder)`, of one process only. */
  store: KeyValueStore;
  /** The most that a task, and a day, may cost: {@link parseDollars}. */
  perTask: Picodollars;
  perDay: Picodollars;
  /** The dispatcher's name in the ledger. Default `dispatcher`. */
  name?: string;
  /** Tasks that run at once, and that may wait. Default 8 and 256. */
  atOnce?: number;
  waiting?: number;
  /** The environment with the models' keys. Default: this process's. */
  environment?: { [name: string]: string | undefined };
  /** Makes a model of the AI SDK. Default: by its provider and address in models.yaml. */
  openModel?: (model: Model) => OpenedModel;
  spans?: Spans;
  log?: Log;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Gives a number from 0 to below 1 that clients cannot know. It decides which tasks are drawn for a shadow. */
  random?: () => number;
};

/** `reason` says why a task that is not finished does not run now. It runs again within 30 seconds. */
export type TaskState = { status: "RUNNING"; task_id: string; reason?: string } | Outcome;

export type Dispatcher = {
  /**
   * Does a task, from triage to settlement, and returns its outcome. If the same task is sent again, the call waits
   * for the running one, or returns its outcome.
   *
   * @param task see {@link readTask}
   * @throws InvalidInputError naming the field; TallystickError `conflicting_task`, `dispatcher_busy`,
   * `dispatcher_closed`, `settlement_key_refused`; ServiceError if the task cannot go on now. It goes on later
   */
  dispatch: (task: unknown, options?: { owner?: string; signal?: AbortSignal }) => Promise<Outcome>;
  /** Accepts a task and does not wait for it. */
  submit: (
    task: unknown,
    options?: { owner?: string },
  ) => Promise<{ taskId: string; outcome: Promise<Outcome> }>;
  /** The state of a task; undefined when it is unknown, or belongs to another client. */
  state: (taskId: string, owner?: string) => Promise<TaskState | undefined>;
  /** The outcome of a running task; undefined when the task does not run. */
  outcome: (taskId: string, owner?: string) => Promise<Outcome> | undefined;
  /**
   * Ends a task, also one that does not run now; false when it is over or unknown. Work that was already proposed may
   * still settle. The closing entry of a task that does not run now is proposed when the task is continued.
   */
  cancel: (taskId: string, owner?: string) => Promise<boolean>;
  /**
   * Continues the open tasks of an earlier process, and returns their number. From then on, tasks that are open and do
   * not run are continued every 30 seconds. Call it once, at the start.
   */
  resume: () => Promise<number>;
  budget: CallBudget;
  /** Calls `tell` once with the outcome of each task that ends in this process. Resumed tasks count too. */
  onEnd: (tell: (outcome: Outcome) => void) => void;
  /** Tasks that run, and that wait. */
  load: () => { running: number; waiting: number };
  /** Whether settlement refuses this dispatcher's key. Then no new task is accepted, and no model is asked. */
  isKeyRefused: () => boolean;
  /** Stops. The next process continues the running tasks. */
  close: () => Promise<void>;
};

const OWNER = "library";
const CANCELLED = { status: "CANCELLED", reason: "It was cancelled." } as const;

/**
 * A dispatcher: Triage, Execute, Verify, Settle (swarm.at §3).
 *
 * @throws InvalidInputError `missing_key` when a model's key is missing
 * @example
 * const dispatcher = createDispatcher({ models: readModels(text), settlement: { baseUrl, apiKey }, store: fileStore("./dispatch"),
 *   perTask: parseDollars("0.10", "perTask"), perDay: parseDollars("5.00", "perDay") });
 * const outcome = await dispatcher.dispatch({ task_id: crypto.randomUUID(), goal: "Which of these invoices are due?", keywords: ["invoices"] });
 */
export function createDispatcher(parameters: DispatcherParameters): Dispatcher {
  return new RunningDispatcher(parameters);
}

type Running = { owner: string; request: string; outcome: Promise<Outcome>; stop: AbortController };

class RunningDispatcher implements Dispatcher {
  readonly budget: CallBudget;
  readonly #world: World;
  /** The tasks that run, by the keys of their files. */
  readonly #running = new Map<string, Running>();
  /** Why an open task does not run now, by the key of its file. */
  readonly #stopped = new Map<string, string>();
  readonly #turns: ReturnType<typeof taskQueue>;
  readonly #tellers: ((outcome: Outcome) => void)[] = [];
  readonly #atMost: number;
  /** Tasks that are being accepted or resumed: one at a time for each id, so that none starts twice. */
  readonly #locks = new Map<string, Promise<unknown>>();
  /** When each finished task ended, by its key. So the file of a finished task is read only once. */
  readonly #over = new Map<string, number>();
  #isClosed = false;
  #sweeping: Promise<number> | undefined;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(parameters: DispatcherParameters) {
    const { models: table, store, perTask, perDay, now = Date.now, log = () => {} } = parameters;
    const { name = "dispatcher", environment = process.env, spans = noSpans } = parameters;
    const { atOnce = 8, waiting = 256, random = () => randomInt(2 ** 32) / 2 ** 32 } = parameters;
    const opened = openAll(table, parameters.openModel ?? ((model) => openModel(model, environment)));
    const clocks = twoClocks(now);
    const timed = notingTime(parameters.settlement, clocks);
    const key = settlementKey(timed, now, log);
    const settlement = key.watch(timed);
    this.budget = callBudget({ store, perTask, perDay, clocks });
    this.#turns = taskQueue(atOnce);
    this.#atMost = atOnce + waiting;
    this.#world = {
      table,
      dispatcher: name,
      settlement,
      settlementKey: key,
      files: new TaskFiles(store),
      budget: this.budget,
      openModel: (model) => opened.get(model.name) as OpenedModel,
      recordOf: kindRecords(settlement, name, now),
      spans,
      now,
      clocks,
      random,
      log,
    };
  }

  async submit(given: unknown, { owner = OWNER }: { owner?: string } = {}) {
    const text = JSON.stringify(given) ?? "";
    if (text.length > MAX_TASK_BYTES) throw tooLarge();
    const task = await readTask(given, owner);
    const request = toBareHex(sha256(utf8ToBytes(text)));
    const { taskId } = task;
    return await this.#alone(taskId, async () => {
      if (this.#isClosed) throw new TaskStopped();
      const { files, now, settlementKey } = this.#world;
      const underWay = this.#underWay(taskId, owner);
      const known = underWay ?? (await files.find(taskId, owner));
      if (known && known.request !== request) throw conflicting(taskId);
      if (underWay) return { taskId, outcome: underWay.outcome };
      const file = known as TaskFile | undefined;
      if (file?.phase === "over") return { taskId, outcome: Promise.resolve(file.outcome as Outcome) };
      // An accepted task would only wait. If settlement takes the key again, this asks it.
      if (!file && settlementKey.isRefused()) await settlementKey.require();
      if (this.#running.size >= this.#atMost) throw busy();
      if (file) return { taskId, outcome: this.#start(task, file).outcome };
      const isNameTaken = (await files.at(taskKey(taskId))) !== undefined;
      const made = newTaskFile({ task, owner, request, given, acceptedAt: now(), isNameTaken });
      await files.create(made);
      return { taskId, outcome: this.#start(task, made).outcome };
    });
  }

  async dispatch(given: unknown, { owner = OWNER, signal }: { owner?: string; signal?: AbortSignal } = {}) {
    signal?.throwIfAborted();
    const { taskId, outcome } = await this.submit(given, { owner });
    const cancel = (): void =>
      this.#underWay(taskId, owner)?.stop.abort(new TaskCancelled("The client has left."));
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    return await outcome.finally(() => signal?.removeEventListener("abort", cancel));
  }

  async state(taskId: string, owner = OWNER): Promise<TaskState | undefined> {
    const file = await this.#world.files.find(taskId, owner);
    if (file === undefined) return undefined;
    if (file.phase === "over" && file.outcome) return file.outcome;
    const reason = this.#stopped.get(keyOf(file));
    return { status: "RUNNING", task_id: taskId, ...(reason !== undefined && { reason }) };
  }

  outcome(taskId: string, owner = OWNER): Promise<Outcome> | undefined {
    return this.#underWay(taskId, owner)?.outcome;
  }

  async cancel(taskId: string, owner = OWNER): Promise<boolean> {
    const isRunning = (): boolean => {
      const entry = this.#underWay(taskId, owner);
      entry?.stop.abort(new TaskCancelled(CANCELLED.reason));
      return entry !== undefined;
    };
    if (isRunning()) return true;
    return await this.#alone(taskId, async () => {
      if (isRunning()) return true;
      const { files } = this.#world;
      const file = await files.find(taskId, owner);
      if (file === undefined) return false;
      // A task that waits for settlement would ask models later.
      const { phase } = await files.change(file, (it) =>
        it.closing || it.phase === "over" ? it : { ...it, phase: "closing", closing: CANCELLED },
      );
      return phase !== "over";
    });
  }

  async resume(): Promise<number> {
    // With many finished tasks a check may take longer than the time between two checks. So a new check begins only
    // after the last one has ended.
    const sweep = (): Promise<number> => {
      this.#sweeping ??= this.#sweep().finally(() => {
        this.#sweeping = undefined;
      });
      return this.#sweeping;
    };
    const sweepLater = () =>
      void sweep().catch((error) => this.#world.log("The unfinished tasks could not be checked.", { error }));
    this.#sweeper ??= setInterval(sweepLater, SWEEP_MS).unref();
    return await sweep();
  }

  onEnd(tell: (outcome: Outcome) => void): void {
    this.#tellers.push(tell);
  }

  load(): { running: number; waiting: number } {
    const running = this.#turns.running();
    return { running, waiting: this.#running.size - running };
  }

  isKeyRefused(): boolean {
    return this.#world.settlementKey.isRefused();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    const all = [...this.#running.values()];
    for (const { stop } of all) stop.abort(new TaskStopped());
    await this.#sweeping?.catch(() => {});
    await Promise.allSettled(all.map(({ outcome }) => outcome));
  }

  /**
   * Starts a task. Nothing is awaited before the task is in the map of running tasks, so {@link close} sees each task
   * that starts.
   */
  #start(task: Task, file: TaskFile): Running {
    if (this.#isClosed) throw new TaskStopped();
    const stop = new AbortController();
    const { now, spans, log } = this.#world;
    const work = async (): Promise<Outcome> => {
      const limit = startDeadline(file.deadlineAt - now(), stop.signal);
      try {
        const outcome = await this.#turns.inTurn(() =>
          spans.task(task, () => runTask(this.#world, task, file, limit.signal)),
        );
        for (const tell of this.#tellers) tell(outcome);
        return outcome;
      } finally {
        limit.end();
      }
    };
    const key = keyOf(file);
    const outcome = work().finally(() => this.#running.delete(key));
    outcome.catch((error) => {
      if (error instanceof TaskStopped) return;
      if (error instanceof ServiceError || error instanceof SettlementKeyRefused)
        this.#stopped.set(key, `Settlement: ${error.code}`);
      log("A task is not finished. It is continued later.", { task: task.taskId, error });
    });
    const entry = { owner: file.owner, request: file.request, outcome, stop };
    this.#stopped.delete(key);
    this.#running.set(key, entry);
    return entry;
  }

  /** A client's task that runs. */
  #underWay(taskId: string, owner: string): Running | undefined {
    const keys = [taskKey(taskId), taskKey(taskId, owner)];
    return keys.map((key) => this.#running.get(key)).find((entry) => entry?.owner === owner);
  }

  /**
   * Resumes the tasks that are open and do not run, and returns their number. Forgets the tasks that ended long ago. If
   * the file of a task cannot be read, the other tasks are still resumed.
   */
  async #sweep(): Promise<number> {
    const { files, log } = this.#world;
    let count = 0;
    for (const key of await files.keys()) {
      if (this.#isClosed) break;
      try {
        if (await this.#isOver(key)) continue;
        const file = await files.at(key);
        if (file !== undefined && (await this.#continue(key, file.taskId))) count++;
      } catch (error) {
        if (error instanceof TaskStopped) break;
        log("A task cannot be continued.", { file: key, error });
      }
    }
    return count;
  }

  /** Whether a task has ended. Forgets it if that was long ago by both clocks. */
  async #isOver(key: string): Promise<boolean> {
    const { files, clocks } = this.#world;
    let overAt = this.#over.get(key);
    if (overAt === undefined) {
      const file = await files.at(key);
      if (file?.phase !== "over") return file === undefined;
      overAt = file.overAt ?? 0;
      this.#over.set(key, overAt);
    }
    if (overAt + REMEMBER_MS >= (clocks.passed() ?? 0)) return true;
    await files.forget(key);
    this.#over.delete(key);
    return true;
  }

  /** Continues a task that is open and does not run. */
  #continue(key: string, taskId: string): Promise<boolean> {
    return this.#alone(taskId, async () => {
      // This check comes before the file is read. So if the task ends between the two, its file already has the phase
      // `over`, and the task is not started again.
      if (this.#running.has(key)) return false;
      const file = await this.#world.files.at(key);
      if (file === undefined || file.phase === "over") return false;
      const task = await readTask(file.given, file.owner).catch((error) => {
        if (error instanceof InvalidInputError) return error;
        throw error;
      });
      if (task instanceof InvalidInputError) await this.#endInvalid(file, task);
      else this.#start(task, file);
      return !(task instanceof InvalidInputError);
    });
  }

  /**
   * Ends a task that an earlier version accepted and this version refuses. It can never be continued, and settlement
   * could not be asked what became of it.
   */
  async #endInvalid(file: TaskFile, error: InvalidInputError): Promise<void> {
    const world = this.#world;
    world.log("A task is not valid any more. It ends without an entry.", { task: file.taskId, error });
    await bookLostCalls(world, file);
    const outcome: Outcome = {
      ...outcomeTotals(file, file.state),
      status: "FAILED",
      reason: "The task is not valid any more.",
    };
    await endTask(world, file, outcome);
    this.#stopped.delete(keyOf(file));
    for (const tell of this.#tellers) tell(outcome);
  }

  #alone<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#locks.get(taskId) ?? Promise.resolve();
    const next = before.catch(() => {}).then(work);
    this.#locks.set(taskId, next);
    const forget = (): void => {
      if (this.#locks.get(taskId) === next) this.#locks.delete(taskId);
    };
    next.then(forget, forget);
    return next;
  }
}

async function runTask(world: World, task: Task, file: TaskFile, signal: AbortSignal): Promise<Outcome> {
  await bookLostCalls(world, file);
  const run = new TaskRun(world, task, file, signal);
  const ended = file.closing ?? (await run.run());
  const outcome = await closeTask(world, task, run, ended);
  await endTask(world, file, outcome);
  return outcome;
}

/** Stores the outcome of a task, and forgets what only an open task needs. */
async function endTask(world: World, file: TaskFile, outcome: Outcome): Promise<void> {
  await world.files.change(file, ({ given: _, calls: __, answer: ___, ...it }) => ({
    ...it,
    calls: {},
    phase: "over",
    outcome,
    overAt: world.clocks.latest() ?? world.now(),
  }));
  await world.budget.forget(bookOf(file));
}

/** Settlement, each answer of which tells its time. */
function notingTime(settlement: Settlement, { note }: TwoClocks): Settlement {
  return {
    ...settlement,
    fetch: async (input, init) => {
      const answer = await (settlement.fetch ?? globalThis.fetch)(input, init);
      note(answer);
      return answer;
    },
  };
}

function openAll(table: ModelTable, open: (model: Model) => OpenedModel): Map<string, OpenedModel> {
  return new Map([...table.models].map(([name, model]) => [name, open(model)]));
}

function conflicting(taskId: string): TallystickError {
  return new TallystickError({
    code: "conflicting_task",
    message: `The id ${taskId} belongs to another task.`,
    hint: "Give each task its own id, preferably a UUID.",
    field: "task_id",
  });
}

function busy(): TallystickError {
  return new TallystickError({
    code: "dispatcher_busy",
    message: "Too many tasks wait.",
    hint: "Send the task again in a few seconds.",
  });
}

function tooLarge(): InvalidInputError {
  const message = `must have at most ${MAX_TASK_BYTES} characters as JSON`;
  return new InvalidInputError({ issues: [{ field: "task", message }] });
}
