import { appendFile, readFile } from "node:fs/promises";
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

  private constructor(file: string, last: AnchorRecord | undefined) {
    this.#file = file;
    this.#last = last;
  }

  /** Reads the last good line of the file in a ledger's folder. */
  static async open(folder: string): Promise<AnchorLog> {
    const file = path.join(folder, ANCHOR_FILE);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    const last = text
      .split("\n")
      .map(parseLine)
      .findLast((line) => line !== undefined);
    return new AnchorLog(file, last);
  }

  /** The last anchor, when the contract still holds this size and root; undefined after a reorg undid it. */
  last(onChain: { size: number; root: Hex | null }): AnchorRecord | undefined {
    const last = this.#last;
    return last && last.size === onChain.size && last.root === onChain.root ? last : undefined;
  }

  async add(anchor: AnchorRecord): Promise<void> {
    this.#last = anchor;
    await appendFile(this.#file, `${JSON.stringify(anchor)}\n`);
  }
}

function parseLine(line: string): AnchorRecord | undefined {
  try {
    return anchorSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
