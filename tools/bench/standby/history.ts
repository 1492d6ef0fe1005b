import { open } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import { LedgerChain } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";

type Read = { offset: number; chain: LedgerChain; count: number };

/**
 * The only history that a ledger may have, as its machines' files and the answers to clients and followers show it.
 * Each reading of a file continues where the last reading ended.
 */
export class History {
  readonly #hashes: string[] = [];
  readonly #records = new Set<string>();
  readonly #tree = new MerkleTree(sha256ByNode);
  readonly #read = new Map<string, Read>();
  readonly #answered = new Map<string, number>();
  #checkpoints: string[] = [];
  #checkpointCount = 0;

  /** The number of entries, answers and checkpoints. */
  get counts(): { entries: number; answers: number; checkpoints: number } {
    return {
      entries: this.#hashes.length,
      answers: this.#answered.size,
      checkpoints: this.#checkpointCount,
    };
  }

  /** A client was answered SETTLED. @throws TallystickError `standby_test_failed` when the same hash had another place */
  answered(hash: string, index: number): void {
    const before = this.#answered.get(hash);
    if (before !== undefined && before !== index)
      throw failure(`${hash} was answered at ${before} and at ${index}`);
    this.#answered.set(hash, index);
  }

  /** A follower got a checkpoint. */
  signed(note: string): void {
    this.#checkpoints.push(note);
  }

  /** Reads the new lines of a machine's file, and compares them with the other files. */
  async read(file: string): Promise<void> {
    const read = this.#read.get(file) ?? {
      offset: 0,
      chain: new LedgerChain({ sha256: sha256ByNode }),
      count: 0,
    };
    this.#read.set(file, read);
    const text = await restOf(file, read.offset);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    read.offset += whole.length;
    for (const line of whole.split("\n").slice(0, -1)) {
      const { entry, leafHash } = read.chain.nextEntry(line);
      const index = read.count++;
      if (index === this.#hashes.length) {
        if (this.#records.has(entry.taskId)) throw failure(`the record ${entry.taskId} is there twice`);
        this.#records.add(entry.taskId);
        this.#hashes.push(entry.currentHash);
        this.#tree.append(leafHash);
      } else if (this.#hashes[index] !== entry.currentHash)
        throw failure(`${file} has another entry ${index} than another machine`);
    }
  }

  /**
   * Compares the answers and signatures with the history, as far as it was read.
   *
   * @param isWhole whether every file was read to its end, and nobody writes any more
   * @throws TallystickError `standby_test_failed` naming what was lost, or forked
   */
  check({ isWhole = false } = {}): void {
    for (const [hash, index] of this.#answered) {
      if (!isWhole && index >= this.#hashes.length) continue;
      if (this.#hashes[index] !== hash)
        throw failure(`${hash} was answered as entry ${index}, which is ${this.#hashes[index]}`);
    }
    this.#checkpoints = this.#checkpoints.filter((note) => {
      const { size, root } = parseCheckpoint(note.slice(0, note.indexOf("\n\n") + 1));
      if (size > this.#tree.size && !isWhole) return true;
      if (size > this.#tree.size || !bytesEqual(this.#tree.root(size), root))
        throw failure(`a checkpoint of ${size} entries is of another history`);
      this.#checkpointCount++;
      return false;
    });
  }
}

async function restOf(file: string, offset: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), 0, undefined, offset);
    return buffer.toString("latin1");
  } finally {
    await handle.close();
  }
}

/** The error for something that must never happen. */
export function failure(message: string): TallystickError {
  return new TallystickError({ code: "standby_test_failed", message });
}
