import { truncate } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { TallystickError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import {
  dumpsPythonJson,
  JsonSyntaxError,
  type PyJson,
  parsePythonJson,
} from "tallystick-protocol/json/pythonJson";
import { AppendFile, type OpenAppendFileParameters } from "../ledger/appendFile.ts";
import { ledgerLines } from "../ledger/ledgerLines.ts";
import { isOutcomeUnknown } from "../ledger/writeErrors.ts";
import { HeldIndex, type ReviewEntry, type HeldRow as Row } from "./heldIndex.ts";
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";

/** Name of the file next to the ledger. */
export const HELD_FILE = "held.jsonl";

/** A proposal that waits for a person. `timestamp` in seconds, `divergence` from 0 to 1. */
export type HeldProposal = { id: string; taskId: string; timestamp: number; divergence: number };

/** Stores the line of a held proposal in another place too. */
export type ShareHeld = (held: { id: string; line: string }) => Promise<void>;

/** A proposal that is being held. */
type UnderWay = { taskId: string; held: Promise<HeldProposal> };

/** The held content: the payload that would have been settled on `parentHash`, and the shadow's result. */
export type HeldContent = { parentHash: string; payload: PyObject; shadow: PyObject };

/** What a ledger says of reviews. */
export type LedgerReviews = {
  /** The entry of a proposal's review, undefined while it waits. */
  reviewOf: (heldId: string) => ReviewEntry | undefined;
  /** The hash of the entry at a position, undefined when there is none. */
  hashAt: (index: number) => Promise<string | undefined>;
};

type PyObject = { [key: string]: PyJson };

/**
 * The proposals that are held for high divergence (swarm.at §5.1), in an append-only file. Each has one canonical JSON line
 * with both versions. The line is on disk before the agent gets its answer. An index next to the file has the positions. It
 * follows from the file, and is rebuilt when it does not match.
 */
export class HeldProposals {
  readonly #file: AppendFile;
  readonly #index: HeldIndex;
  /**
   * Proposals that are being written. A proposal with an unknown outcome stays here, because this process then ends.
   */
  readonly #underWay = new Map<string, UnderWay>();
  /** Lines of the file that the index lacks, because the disk refused to write it. */
  #unindexed: Row[] = [];
  #share: ShareHeld | undefined;

  /** Bytes of a half-written last line that were cut when the file was opened. */
  readonly cutBytes: number;

  private constructor(file: AppendFile, index: HeldIndex, cutBytes: number) {
    this.#file = file;
    this.#index = index;
    this.cutBytes = cutBytes;
  }

  /**
   * Opens the file in a ledger's folder, which must be locked. An incomplete last line is cut, as in the ledger.
   *
   * @param openFile how the file is opened; replaced in tests by a disk that fails
   * @throws TallystickError `held_corrupt` naming the line when the file is not what was written; `index_unavailable`
   */
  static async open(
    folder: string,
    onFailure: (error: Error) => void,
    openFile?: OpenAppendFileParameters["openFile"],
  ): Promise<HeldProposals> {
    const filePath = path.join(folder, HELD_FILE);
    const index = new HeldIndex(folder);
    let cutBytes = 0;
    const prepare = async (): Promise<void> => {
      if (!(await fits(filePath, index.last()))) index.clear();
      let { size: number, end } = index;
      for await (const lines of ledgerLines(filePath, undefined, end)) {
        for (const line of lines) {
          if (line.terminated) {
            index.add({ ...readLine(line.text, ++number), start: line.start, length: line.end - line.start });
            end = line.end;
          } else cutBytes = line.end - line.start;
        }
      }
      index.commit();
      if (cutBytes > 0) await truncate(filePath, end);
    };
    try {
      const parameters = { filePath, prepare, onFailure, ...(openFile && { openFile }) };
      return new HeldProposals(await AppendFile.open(parameters), index, cutBytes);
    } catch (error) {
      index.close();
      throw error;
    }
  }

  /** From now on, every line is also stored in another place before its agent gets an answer. */
  shareBy(share: ShareHeld): void {
    this.#share = share;
  }

  /** Number of proposals held. */
  get size(): number {
    return this.#index.size;
  }

  /** Number of held proposals that wait for a review. */
  get waiting(): number {
    return this.#index.waiting;
  }

  /** The first `most` proposals that wait for a review, oldest first. */
  firstWaiting(most: number): HeldProposal[] {
    return this.#index.firstWaiting(most).map(heldOf);
  }

  /**
   * Notes which proposals the ledger has reviews of. Call it at each start, before a review is settled. If the ledger
   * lacks the last review that was noted here, it was restored to an earlier state. Then all proposals wait again,
   * except those that the ledger has reviews of.
   */
  async takeReviews(ledger: LedgerReviews): Promise<void> {
    const last = this.#index.lastReview();
    if (last && (await ledger.hashAt(last.index)) !== last.hash) this.#index.forgetReviews();
    for (const { id } of this.#index.allWaiting()) {
      const review = ledger.reviewOf(id);
      if (review) this.#index.reviewed(id, review);
    }
    this.#index.commit();
  }

  /** Call it when a proposal was reviewed, with the review's entry. */
  reviewed(id: string, review: ReviewEntry): void {
    this.#index.reviewed(id, review);
    this.#index.commit();
  }

  /** The proposal that was held under this id, undefined when there is none. */
  get(id: string): HeldProposal | undefined {
    const row = this.#index.get(id);
    return row && heldOf(row);
  }

  /**
   * The content of a held proposal, read from disk.
   *
   * @throws TallystickError `unknown_held` (404) when there is no such id; `held_corrupt` when the file no
   * longer has it
   */
  async content(id: string): Promise<HeldContent> {
    const row = this.#index.get(id);
    if (row === undefined) {
      throw new TallystickError({
        code: "unknown_held",
        message: `Nothing is held under ${id}.`,
        hint: "GET /v1/reviews lists what waits for a review.",
      });
    }
    const text = (await this.#file.read(row.start, row.length)).toString("latin1").trimEnd();
    const line = parseLine(text, `at byte ${row.start}`);
    const { task_id, parent_hash, proposal, shadow } = line;
    // The operator must see and release exactly what was held.
    if (idOf({ task_id, parent_hash, proposal, shadow } as PyObject) !== id)
      throw corrupt(`at byte ${row.start}`, "it is not what was held");
    return {
      parentHash: String(parent_hash),
      payload: proposal as PyObject,
      shadow: (shadow as { data_update: PyObject }).data_update,
    };
  }

  /**
   * The last `most` proposals held for a task, oldest first.
   *
   * @throws TallystickError `outcome_unknown` (503) while it is not certain whether a proposal of the task is held;
   * `index_unavailable` (503) while the index lacks a line
   */
  ofTask(taskId: string, most: number): readonly HeldProposal[] {
    this.#takeIn();
    // An agent whose answer was lost asks here. If it heard that nothing is held, it would propose the task again.
    for (const one of this.#underWay.values()) if (one.taskId === taskId) throw notCertainYet(taskId);
    return this.#index.ofTask(taskId, most).map(heldOf).reverse();
  }

  /**
   * Holds a proposal and its shadow. The same pair is held once. Resolves when it is on disk. If the shared store has it and
   * this disk refuses it, this process must end: only another machine can show it.
   *
   * @throws TallystickError `index_unavailable` (503) when the disk accepts the line but not the index. Then it is
   * held, and the index takes it with the next call. `outcome_unknown` (503) when it is held, or perhaps held, although
   * this disk or the shared store failed
   */
  async hold(
    proposal: Proposal,
    shadow: ShadowProposal,
    { divergence, timestamp }: { divergence: number; timestamp: number },
  ): Promise<HeldProposal> {
    const content = contentOf(proposal, shadow);
    const id = idOf(content);
    this.#takeIn();
    // Nothing is awaited between this check and the entry in `#underWay`. So two calls cannot hold the same pair
    // twice.
    const known = this.get(id) ?? this.#underWay.get(id)?.held;
    if (known) return known;
    const { taskId } = proposal;
    const held = { id, taskId, timestamp, divergence };
    const line = `${dumpsPythonJson({ ...content, id, timestamp, divergence })}\n`;
    const kept = this.#keep(held, line);
    this.#underWay.set(id, { taskId, held: kept });
    const forget = (): boolean => this.#underWay.delete(id);
    kept.then(forget, (error) => isOutcomeUnknown(error) || forget());
    return kept;
  }

  async #keep(held: HeldProposal, line: string): Promise<HeldProposal> {
    const { id, taskId: task, timestamp, divergence } = held;
    const share = this.#share;
    await share?.({ id, line });
    const start = await this.#file.append(line).catch((cause) => {
      if (share === undefined) throw cause;
      this.#file.abandon(cause);
      throw heldElsewhere(cause);
    });
    this.#unindexed.push({ id, task, timestamp, divergence, start, length: line.length });
    this.#takeIn();
    return held;
  }

  /** Adds to the index the lines that it lacks, in the order of the file. */
  #takeIn(): void {
    if (this.#unindexed.length === 0) return;
    for (const row of this.#unindexed) this.#index.add(row);
    this.#index.commit();
    this.#unindexed = [];
  }

  /**
   * Takes a line that another process held. Call it before anything is held here.
   *
   * @throws TallystickError `held_corrupt` when it is no held proposal
   */
  async take(line: string): Promise<void> {
    const { id, task: taskId, timestamp, divergence } = readLine(line.trimEnd(), this.size + 1);
    await this.#keep({ id, taskId, timestamp, divergence }, line);
  }

  /** Waits until everything is on disk and closes the file. */
  async close(): Promise<void> {
    // What the shared store has must still reach the file.
    await Promise.allSettled([...this.#underWay.values()].map(({ held }) => held));
    await this.#file.close();
    this.#index.close();
  }
}

function heldOf({ id, task, timestamp, divergence }: Row): HeldProposal {
  return { id, taskId: task, timestamp, divergence };
}

/** Whether the file has the last line that its index knows. */
async function fits(filePath: string, last: Row | undefined): Promise<boolean> {
  if (last === undefined) return true;
  try {
    for await (const lines of ledgerLines(filePath, last.start + last.length, last.start)) {
      const [line] = lines;
      return line?.terminated === true && readLine(line.text, 0).id === last.id;
    }
  } catch {
    // The caller now reads the whole file, and finds the damaged line.
  }
  return false;
}

function contentOf(proposal: Proposal, shadow: ShadowProposal): PyObject {
  return {
    task_id: proposal.taskId,
    parent_hash: proposal.parentHash,
    proposal: settlementPayload(proposal),
    shadow: { data_update: shadow.dataUpdate },
  };
}

/** The id of a held proposal with its shadow: SHA-256 of both, so the same pair is held once. */
export function heldId(proposal: Proposal, shadow: ShadowProposal): string {
  return idOf(contentOf(proposal, shadow));
}

function idOf(content: PyObject): string {
  return toBareHex(sha256(utf8ToBytes(dumpsPythonJson(content))));
}

/** The shared store has the line, so the next machine that writes shows it to the operator. */
function heldElsewhere(cause: Error): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `The proposal cannot be written here. It is held: the shared store has it. ${cause.message}`,
    hint: "Another machine continues the ledger. Ask GET /v1/status/{task_id} before you propose the task again.",
    cause,
  });
}

function notCertainYet(taskId: string): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `A proposal of task ${taskId} was sent to be held, and it is not certain yet whether it is held.`,
    hint: "Ask again in some seconds. Do not propose the task again before you have an answer.",
    details: { headers: { "retry-after": "5" } },
  });
}

function corrupt(where: string, reason: string): TallystickError {
  return new TallystickError({
    code: "held_corrupt",
    message: `${HELD_FILE} ${where}: ${reason}`,
    hint: "The file of held proposals was changed by hand, or damaged. Restore it from a copy.",
  });
}

function parseLine(text: string, where: string): PyObject {
  let value: PyJson;
  try {
    value = parsePythonJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw corrupt(where, error.message);
    throw error;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw corrupt(where, "it is no object");
  return value;
}

function readLine(line: string, number: number): Omit<Row, "start" | "length"> {
  const where = `line ${number}`;
  const { id, task_id, timestamp, divergence } = parseLine(line, where);
  if (
    typeof id !== "string" ||
    typeof task_id !== "string" ||
    typeof timestamp !== "number" ||
    typeof divergence !== "number"
  ) {
    throw corrupt(where, "id, task_id, timestamp or divergence is missing");
  }
  return { id, task: task_id, timestamp, divergence };
}
