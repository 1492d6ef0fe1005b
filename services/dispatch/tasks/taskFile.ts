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
  /** The id that the client gave. Two clients may give the same. */
  taskId: string;
  /** The task's name in the ledger, if another client's task has the id for its name. Absent: the id. */
  name?: string;
  /** What its calls are booked under. A task whose id was used before gets another one. */
  book?: string;
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

/** The parts of a file that say where it is stored. */
export type TaskPlace = Pick<TaskFile, "taskId" | "owner" | "name">;

/** The key of a task's file. A task with a name of its own in the ledger has a key of its own, too. */
export function keyOf({ taskId, owner, name }: TaskPlace): string {
  return name === undefined ? taskKey(taskId) : taskKey(taskId, owner);
}

/**
 * The key of the file of a task with this id.
 *
 * @param owner only for a task whose id is already the name of another client's task in the ledger
 */
export function taskKey(taskId: string, owner?: string): string {
  // No id has a line break, so the two kinds of keys are never the same.
  const text = owner === undefined ? taskId : `${owner}\n${taskId}`;
  return toBareHex(sha256(utf8ToBytes(text))).slice(0, 40);
}

/** The task's name in the ledger. */
export function nameOf({ name, taskId }: Pick<TaskFile, "taskId" | "name">): string {
  return name ?? taskId;
}

/** What a task's calls are booked under, in the budget and in the ledger. */
export function bookOf(file: Pick<TaskFile, "taskId" | "book">): string {
  return file.book ?? taskKey(file.taskId);
}

/** The files of tasks, changed one after the other for each task. */
export class TaskFiles {
  readonly #store: KeyValueStore;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** The file of a client's task; undefined when the client has no such task. */
  async find(taskId: string, owner: string): Promise<TaskFile | undefined> {
    const file = await this.at(taskKey(taskId));
    return file?.owner === owner ? file : await this.at(taskKey(taskId, owner));
  }

  /** Writes a new task's file. Changes nothing and returns false when the file exists already. */
  create(file: TaskFile): Promise<boolean> {
    return this.#store.putNew(`task/${keyOf(file)}`, file);
  }

  /**
   * Changes a task's file. It is on disk when this resolves.
   *
   * @param of any version of the file
   */
  change(of: TaskPlace, next: (file: TaskFile) => TaskFile): Promise<TaskFile> {
    const key = `task/${keyOf(of)}`;
    const before = this.#turns.get(key) ?? Promise.resolve();
    const work = before
      .catch(() => {})
      .then(async () => {
        const file = await this.#store.get<TaskFile>(key);
        if (file === undefined) throw new Error(`there is no file of the task ${of.taskId}`);
        const after = next(file);
        if (after !== file) await this.#store.put(key, after);
        return after;
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
