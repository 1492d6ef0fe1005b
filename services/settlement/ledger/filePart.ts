import { closeSync, openSync, readSync } from "node:fs";
import { CanonicalChain } from "tallystick-protocol/ledger/canonicalChain";
import { MerkleRange, type RangeOfLeaves } from "tallystick-protocol/merkle/merkleRange";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";

const NEWLINE = 0x0a;

/** The position at which a canonical line has the hash of the entry before it. */
const PARENT_AT = `{"current_hash": "${"0".repeat(64)}", "parent_hash": "`.length;

/** A verified part: the hash of the entry before it, that of its last entry, and its leaves from position `first`. */
export type VerifiedPart = { parent: string; head: string; leavesFrom: (first: number) => RangeOfLeaves };

/**
 * A part of a ledger's file that consists of whole lines. One object reads many parts, one after the other, because
 * memory outside of the heap is freed late.
 */
export class FilePart {
  readonly #file: string;
  #buffer = Buffer.alloc(0);
  #leaves = new Uint8Array(0);
  /** The bytes of the part that was read last; undefined when the file ends before it. */
  #bytes: Buffer | undefined;
  #lines = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads the bytes [start, end). Returns the number of their lines; 0 when the file ends before them. */
  read(start: number, end: number): number {
    this.#bytes = this.#read(start, end);
    this.#lines = this.#bytes ? countLines(this.#bytes) : 0;
    return this.#lines;
  }

  /** Verifies the part that was read last. Undefined when a line is bad or doubtful, or the file ends before it. */
  verify(): VerifiedPart | undefined {
    const [bytes, lines] = [this.#bytes, this.#lines];
    if (bytes === undefined) return undefined;
    const parent = bytes.toString("latin1", PARENT_AT, PARENT_AT + 64);
    const chain = new CanonicalChain(sha256ByNode, parent);
    if (32 * lines > this.#leaves.length) this.#leaves = new Uint8Array(32 * lines);
    for (let at = 0, line = 0; line < lines; line++) {
      const end = bytes.indexOf(NEWLINE, at);
      const leaf = chain.next(bytes.subarray(at, end));
      if (leaf === undefined) return undefined;
      this.#leaves.set(leaf, 32 * line);
      at = end + 1;
    }
    return { parent, head: chain.head, leavesFrom: (first) => this.#leavesFrom(first, lines) };
  }

  #leavesFrom(first: number, lines: number): RangeOfLeaves {
    const range = new MerkleRange(first, sha256ByNode);
    for (let line = 0; line < lines; line++) range.append(this.#leaves.slice(32 * line, 32 * line + 32));
    const { from, to, subtrees } = range;
    return { from, to, subtrees };
  }

  #read(start: number, end: number): Buffer | undefined {
    if (end - start > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(end - start);
    const bytes = this.#buffer.subarray(0, end - start);
    const handle = openSync(this.#file, "r");
    try {
      for (let at = 0; at < bytes.length; ) {
        const count = readSync(handle, bytes, at, bytes.length - at, start + at);
        if (count === 0) return undefined;
        at += count;
      }
      return bytes;
    } finally {
      closeSync(handle);
    }
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
