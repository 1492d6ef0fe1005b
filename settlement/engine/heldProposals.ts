import { truncate } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { TallystickError } from "../../protocol/errors.ts";
import { toBareHex } from "../../protocol/hex.ts";
import {
  dumpsPythonJson,
  JsonSyntaxError,
  type PyJson,
  parsePythonJson,
} from "../../protocol/json/pythonJson.ts";
import { AppendFile } from "../ledger/appendFile.ts";
import { ledgerLines } from "../ledger/ledgerLines.ts";
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";

/** Name of the file beside the ledger. */
export const HELD_FILE = "held.jsonl";

/** A proposal that waits for a person to look at it. `timestamp` in seconds, `divergence` from 0 to 1. */
export type HeldProposal = { id: string; taskId: string; timestamp: number; divergence: number };

/** What was held: the payload that would have been settled on `parentHash`, and what its shadow said instead. */
export type HeldContent = { parentHash: string; payload: PyObject; shadow: PyObject };

type PyObject = { [key: string]: PyJson };
/** `start`: where its line begins in the file, once it is on disk. */
type Kept = { held: HeldProposal; length: number; start: Promise<number> };

/**
 * The proposals that were escrowed for high divergence (swarm.at §5.1): an append-only file, one canonical JSON line
 * each with both versions, on disk before the agent is answered.
 */
export class HeldProposals {
  readonly #byId = new Map<string, Kept>();
  readonly #byTask = new Map<string, HeldProposal[]>();
  readonly #file: AppendFile;

  /** Bytes of a half-written last line that were cut when the file was opened. */
  readonly cutBytes: number;

  private constructor(file: AppendFile, cutBytes: number) {
    this.#file = file;
    this.cutBytes = cutBytes;
  }

  /**
   * Opens the file in a ledger's folder, which must be locked. A torn last line is cut, like the ledger's.
   *
   * @throws TallystickError `held_corrupt` naming the line when the file is not what was written
   */
  static async open(folder: string, onFailure: (error: Error) => void): Promise<HeldProposals> {
    const filePath = path.join(folder, HELD_FILE);
    const found: { proposal: HeldProposal; start: number; end: number }[] = [];
    let cutBytes = 0;
    const prepare = async (): Promise<void> => {
      for await (const lines of ledgerLines(filePath)) {
        for (const line of lines) {
          const { text, start, end, terminated } = line;
          if (terminated) found.push({ proposal: readLine(text, found.length + 1), start, end });
          else cutBytes = end - start;
        }
      }
      if (cutBytes > 0) await truncate(filePath, found.at(-1)?.end ?? 0);
    };
    const held = new HeldProposals(await AppendFile.open({ filePath, prepare, onFailure }), cutBytes);
    for (const { proposal, start, end } of found) {
      held.#remember(proposal, end - start, Promise.resolve(start));
    }
    return held;
  }

  /** Number of proposals held. */
  get size(): number {
    return this.#byId.size;
  }

  /** Every proposal that was ever held, oldest first. */
  get all(): HeldProposal[] {
    return [...this.#byId.values()].map(({ held }) => held);
  }

  /** The proposal that was held under this id, undefined when there is none. */
  get(id: string): HeldProposal | undefined {
    return this.#byId.get(id)?.held;
  }

  /**
   * What was held under an id, read from disk.
   *
   * @throws TallystickError `unknown_held` (404) when nothing was
   */
  async content(id: string): Promise<HeldContent> {
    const kept = this.#byId.get(id);
    if (kept === undefined) {
      throw new TallystickError({
        code: "unknown_held",
        message: `Nothing is held under ${id}.`,
        hint: "GET /v1/reviews lists what waits for a review.",
      });
    }
    const bytes = await this.#file.read(await kept.start, kept.length);
    const line = parsePythonJson(bytes.toString("latin1")) as { [key: string]: PyJson };
    const shadow = line.shadow as { data_update: PyObject };
    return {
      parentHash: String(line.parent_hash),
      payload: line.proposal as PyObject,
      shadow: shadow.data_update,
    };
  }

  /** The proposals held for a task, oldest first. */
  ofTask(taskId: string): readonly HeldProposal[] {
    return this.#byTask.get(taskId) ?? [];
  }

  /** Holds a proposal and its shadow; the same pair is held once. Resolves when it is on disk. */
  async hold(
    proposal: Proposal,
    shadow: ShadowProposal,
    { divergence, timestamp }: { divergence: number; timestamp: number },
  ): Promise<HeldProposal> {
    const content = contentOf(proposal, shadow);
    const id = heldId(proposal, shadow);
    const known = this.#byId.get(id);
    if (known) {
      await known.start;
      return known.held;
    }
    const held = { id, taskId: proposal.taskId, timestamp, divergence };
    const line = `${dumpsPythonJson({ ...content, id, timestamp, divergence })}\n`;
    const start = this.#file.append(line);
    this.#remember(held, line.length, start);
    await start.catch((error) => {
      this.#forget(held);
      throw error;
    });
    return held;
  }

  /** Waits until everything is on disk and closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #remember(held: HeldProposal, length: number, start: Promise<number>): void {
    this.#byId.set(held.id, { held, length, start });
    const ofTask = this.#byTask.get(held.taskId);
    if (ofTask) ofTask.push(held);
    else this.#byTask.set(held.taskId, [held]);
  }

  /** Undoes {@link #remember} for what could not be written. */
  #forget(held: HeldProposal): void {
    this.#byId.delete(held.id);
    const left = this.ofTask(held.taskId).filter((one) => one !== held);
    this.#byTask.set(held.taskId, left);
  }
}

function contentOf(proposal: Proposal, shadow: ShadowProposal): PyObject {
  return {
    task_id: proposal.taskId,
    parent_hash: proposal.parentHash,
    proposal: settlementPayload(proposal),
    shadow: { data_update: shadow.dataUpdate },
  };
}

/** The id under which a proposal is held with its shadow: SHA-256 of both, so that the same pair is held once. */
export function heldId(proposal: Proposal, shadow: ShadowProposal): string {
  return toBareHex(sha256(utf8ToBytes(dumpsPythonJson(contentOf(proposal, shadow)))));
}

function readLine(line: string, number: number): HeldProposal {
  const corrupt = (reason: string): TallystickError =>
    new TallystickError({
      code: "held_corrupt",
      message: `${HELD_FILE} line ${number}: ${reason}`,
      hint: "The file of held proposals was changed by hand, or damaged. Restore it from a copy.",
    });
  let value: PyJson;
  try {
    value = parsePythonJson(line);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw corrupt(error.message);
    throw error;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw corrupt("it is no object");
  const { id, task_id, timestamp, divergence } = value;
  if (
    typeof id !== "string" ||
    typeof task_id !== "string" ||
    typeof timestamp !== "number" ||
    typeof divergence !== "number"
  ) {
    throw corrupt("id, task_id, timestamp or divergence is missing");
  }
  return { id, taskId: task_id, timestamp, divergence };
}
