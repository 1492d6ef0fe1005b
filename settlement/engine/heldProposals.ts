import { open, readFile, truncate } from "node:fs/promises";
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
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";

/** Name of the file beside the ledger. */
export const HELD_FILE = "held.jsonl";

/** A proposal that waits for a person to look at it. `timestamp` in seconds, `divergence` from 0 to 1. */
export type HeldProposal = { id: string; taskId: string; timestamp: number; divergence: number };

/**
 * The proposals that were escrowed for high divergence (swarm.at §5.1): an append-only file, one canonical JSON line
 * each with both versions, on disk before the agent is answered.
 */
export class HeldProposals {
  readonly #byId = new Map<string, { held: HeldProposal; durable: Promise<void> }>();
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
    await (await open(filePath, "a")).close();
    const text = await readFile(filePath, "latin1");
    const whole = text.lastIndexOf("\n") + 1;
    if (whole < text.length) await truncate(filePath, whole);
    const found = text
      .slice(0, whole)
      .split("\n")
      .slice(0, -1)
      .map((line, index) => readLine(line, index + 1));
    const held = new HeldProposals(await AppendFile.open(filePath, onFailure), text.length - whole);
    for (const one of found) held.#remember(one, Promise.resolve());
    return held;
  }

  /** Number of proposals held. */
  get size(): number {
    return this.#byId.size;
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
    const content = {
      task_id: proposal.taskId,
      parent_hash: proposal.parentHash,
      proposal: settlementPayload(proposal),
      shadow: { data_update: shadow.dataUpdate },
    };
    const id = toBareHex(sha256(utf8ToBytes(dumpsPythonJson(content))));
    const known = this.#byId.get(id);
    if (known) {
      await known.durable;
      return known.held;
    }
    const held = { id, taskId: proposal.taskId, timestamp, divergence };
    const durable = this.#file.append(`${dumpsPythonJson({ ...content, id, timestamp, divergence })}\n`);
    this.#remember(held, durable);
    await durable;
    return held;
  }

  /** Waits until everything is on disk and closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #remember(held: HeldProposal, durable: Promise<void>): void {
    this.#byId.set(held.id, { held, durable });
    const ofTask = this.#byTask.get(held.taskId);
    if (ofTask) ofTask.push(held);
    else this.#byTask.set(held.taskId, [held]);
  }
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
