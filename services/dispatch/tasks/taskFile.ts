import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import type { CallRecord } from "./callRecord.ts";
import type { Outcome, Unfinished } from "./outcome.ts";
import type { Triage, WorkState } from "./workState.ts";

/**
 * A finished call: its record, and its answer for the next process to continue with. `isFree`: the vendor was busy
 * and refused the request, so the call cost nothing and only counts as a retry.
 */
export type FinishedCall = { record: CallRecord; result: unknown; isFree?: true };

/** What is stored of a task, as JSON: enough for another process to continue it. */
export type TaskFile = {
  taskId: string;
  /** The client whose API key sent the task. */
  owner: string;
  /** SHA-256 of the request. If the same id comes with another request, it is refused. */
  request: string;
  /** The request; removed when the task is over. */
  given?: unknown;
  /** Unix milliseconds. */
  acceptedAt: number;
  deadlineAt: number;
  phase: "running" | "closing" | "over";
  /** The finished calls, by step. */
  calls: { [step: string]: FinishedCall };
  /** Random numbers that were drawn: a process that starts again must not draw again. */
  draws: { [name: string]: number };
  /** The estimated difficulty of the task. */
  triage?: Triage;
  /** The parents on which its answer was proposed, and the answer that was proposed last. Only this one can still be settled. */
  proposedOn: string[];
  answer?: unknown;
  /** The parents on which its closing entry was proposed. */
  closedOn: string[];
  /** How the task ended, while its closing entry is not in the ledger yet. */
  closing?: Unfinished;
  state?: WorkState;
  outcome?: Outcome;
  overAt?: number;
};

/** The key of a task's file. */
export function taskKey(taskId: string): string {
  return toBareHex(sha256(utf8ToBytes(taskId))).slice(0, 40);
}

/** The files of tasks, changed one after the other for each task. */
export class TaskFiles {
  readonly #store: KeyValueStore;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  get(taskId: string): Promise<TaskFile | undefined> {
    return this.#store.get<TaskFile>(`task/${taskKey(taskId)}`);
  }

  /** Writes a new task's file. Changes nothing and returns false when the file exists already. */
  create(file: TaskFile): Promise<boolean> {
    return this.#store.putNew(`task/${taskKey(file.taskId)}`, file);
  }

  /** Changes a task's file. It is on disk when this resolves. */
  change(taskId: string, next: (file: TaskFile) => TaskFile): Promise<TaskFile> {
    const key = `task/${taskKey(taskId)}`;
    const before = this.#turns.get(key) ?? Promise.resolve();
    const work = before
      .catch(() => {})
      .then(async () => {
        const file = await this.#store.get<TaskFile>(key);
        if (file === undefined) throw new Error(`there is no file of the task ${taskId}`);
        const changed = next(file);
        if (changed !== file) await this.#store.put(key, changed);
        return changed;
      });
    this.#turns.set(key, work);
    const forget = (): void => {
      if (this.#turns.get(key) === work) this.#turns.delete(key);
    };
    work.then(forget, forget);
    return work;
  }

  /** The keys of all tasks in the store, finished or not, as {@link taskKey} makes them. */
  async keys(): Promise<string[]> {
    return (await this.#store.keys("task")).map((key) => key.slice("task/".length));
  }

  /** Reads a task's file by its key. */
  at(key: string): Promise<TaskFile | undefined> {
    return this.#store.get<TaskFile>(`task/${key}`);
  }

  async forget(key: string): Promise<void> {
    await this.#store.delete(`task/${key}`);
  }
}
