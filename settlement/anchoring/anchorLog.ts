import { appendFile, open } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { Hex } from "../../protocol/hex.ts";

/** Name of the file beside the ledger. */
export const ANCHOR_FILE = "anchors.jsonl";

const hex32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform((text) => text as Hex);
const anchorSchema = z.object({ size: z.int().positive(), root: hex32, transaction: hex32 });

/** One anchor that was mined: the size and root that the contract took, and by which transaction. */
export type AnchorRecord = z.output<typeof anchorSchema>;

/**
 * Remembers by which transaction the ledger was anchored last, so that proofs can name it after a restart. It is a
 * memory only: the truth is on the chain, and a line that is missing or damaged costs proofs the transaction's hash.
 */
export class AnchorLog {
  readonly #file: string;
  #last: AnchorRecord | undefined;
  /** Whether the file ends in the middle of a line. */
  #isTorn: boolean;

  private constructor(file: string, last: AnchorRecord | undefined, isTorn: boolean) {
    this.#file = file;
    this.#last = last;
    this.#isTorn = isTorn;
  }

  /** Reads the last good line of the file in a ledger's folder. */
  static async open(folder: string): Promise<AnchorLog> {
    const file = path.join(folder, ANCHOR_FILE);
    const text = await readTail(file);
    const last = text
      .split("\n")
      .map(parseLine)
      .findLast((line) => line !== undefined);
    return new AnchorLog(file, last, text !== "" && !text.endsWith("\n"));
  }

  /** The last anchor, when the contract still holds this size and root; undefined after a reorg undid it. */
  last(onChain: { size: number; root: Hex | null }): AnchorRecord | undefined {
    const last = this.#last;
    return last && last.size === onChain.size && last.root === onChain.root ? last : undefined;
  }

  async add(anchor: AnchorRecord): Promise<void> {
    this.#last = anchor;
    await appendFile(this.#file, `${this.#isTorn ? "\n" : ""}${JSON.stringify(anchor)}\n`);
    this.#isTorn = false;
  }
}

/** How much of the file's end is read: many lines, however long the ledger has been anchored. */
const TAIL_BYTES = 64 * 1024;

/** The end of a file; nothing when there is none. The first line of it may be cut in two. */
async function readTail(file: string): Promise<string> {
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function parseLine(line: string): AnchorRecord | undefined {
  try {
    return anchorSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
