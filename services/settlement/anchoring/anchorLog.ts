import { appendFile, open } from "node:fs/promises";
import path from "node:path";
import type { Hex } from "tallystick-protocol/hex";
import { z } from "zod";

/** Name of the file next to the ledger. */
export const ANCHOR_FILE = "anchors.jsonl";

const hex32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform((text) => text as Hex);
const anchorSchema = z.object({ size: z.int().positive(), root: hex32, transaction: hex32 });

/** One mined anchor: the size and root that the contract accepted, and the transaction. */
export type AnchorRecord = z.output<typeof anchorSchema>;

/**
 * Remembers which transactions anchored the ledger recently, so that proofs can name them after a restart.
 * The file is only a help: the chain has all anchors. If a line is missing or damaged, proofs lack the
 * transaction's hash.
 */
export class AnchorLog {
  readonly #file: string;
  /** The newest anchors, in order of age, the oldest first. */
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

  /**
   * The newest transaction that anchored this size and root, if it is remembered. A reorganization may have undone it.
   */
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

/** The most anchors that are remembered. */
const KEPT = 256;

/** How much of the file's end is read: enough for many lines. */
const TAIL_BYTES = 64 * 1024;

/** The end of a file; empty if there is none. Its first line may be cut. */
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
