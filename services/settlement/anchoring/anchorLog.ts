import { appendFile, open } from "node:fs/promises";
import path from "node:path";
import type { Hex } from "tallystick-protocol/hex";
import { z } from "zod";

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
 * Remembers by which transactions the ledger was anchored lately, so that proofs can name it after a restart. It is a
 * memory only: the truth is on the chain, and a line that is missing or damaged costs proofs the transaction's hash.
 */
export class AnchorLog {
  readonly #file: string;
  /** The newest, oldest first. */
  readonly #recent: AnchorRecord[];
  /** Whether the file ends in the middle of a line. */
  #isTorn: boolean;

  private constructor(file: string, recent: AnchorRecord[], isTorn: boolean) {
    this.#file = file;
    this.#recent = recent;
    this.#isTorn = isTorn;
  }

  /** Reads the last good lines of the file in a ledger's folder. */
  static async open(folder: string): Promise<AnchorLog> {
    const file = path.join(folder, ANCHOR_FILE);
    const text = await readTail(file);
    const lines = text.split("\n").map(parseLine);
    const recent = lines.filter((line) => line !== undefined).slice(-KEPT);
    return new AnchorLog(file, recent, text !== "" && !text.endsWith("\n"));
  }

  /** The newest transaction that anchored this size and root, if it is remembered. A reorg may have undone it. */
  transactionOf({ size, root }: { size: number; root: Hex }): Hex | undefined {
    return this.#recent.findLast((anchor) => anchor.size === size && anchor.root === root)?.transaction;
  }

  async add(anchor: AnchorRecord): Promise<void> {
    this.#recent.push(anchor);
    if (this.#recent.length > KEPT) this.#recent.shift();
    await appendFile(this.#file, `${this.#isTorn ? "\n" : ""}${JSON.stringify(anchor)}\n`);
    this.#isTorn = false;
  }
}

/** How many anchors are remembered. */
const KEPT = 256;

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
