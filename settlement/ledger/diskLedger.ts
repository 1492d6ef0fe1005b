import path from "node:path";
import { InvalidInputError } from "../../protocol/errors.ts";
import { bytesEqual } from "../../protocol/hex.ts";
import type { PyJson } from "../../protocol/json/pythonJson.ts";
import {
  entryLine,
  GENESIS_HASH,
  type LedgerEntry,
  parseEntryLine,
  sealEntry,
} from "../../protocol/ledger/entry.ts";
import {
  LedgerLineError,
  type VerifiedLedger,
  verifyLedgerLine,
} from "../../protocol/ledger/verifyLedger.ts";
import { lineLeafHash } from "../../protocol/merkle/entryLeafHash.ts";
import { MerkleFrontier } from "../../protocol/merkle/merkleFrontier.ts";
import { MerkleTree } from "../../protocol/merkle/merkleTree.ts";
import { AppendFile } from "./appendFile.ts";
import { ledgerLines } from "./ledgerLines.ts";
import { type LedgerRepair, loadLedger } from "./loadLedger.ts";
import { lockFolder, type ReleaseLock } from "./lockFolder.ts";

/** Name of the ledger's file in its folder. */
export const LEDGER_FILE = "ledger.jsonl";

/** What goes into a new entry; parent and hash are the ledger's business. `timestamp` in seconds. */
export type NewEntry = { timestamp: number; taskId: string; payload: { [key: string]: PyJson } };

/** A new entry in its place. `durable` resolves once it cannot be lost any more: only then may it be told to anyone. */
export type Appended = { entry: LedgerEntry; index: number; durable: Promise<void> };

/** An entry that is on disk, and its position from 0. */
export type OnEntry = (entry: LedgerEntry, index: number) => void;

export type OpenLedgerParameters = {
  /** Folder of this ledger; made if needed. */
  folder: string;
  /** Told of every entry on disk, in order: first those that are there, later the new ones. */
  onEntry?: OnEntry;
  /** Told when a later write failed: the ledger takes nothing more and the process should end. */
  onFailure?: (error: Error) => void;
};

/** Positions of bytes: where each line ends. Eight bytes a line. */
class Offsets {
  #values = new Float64Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** The byte behind line `index` (from 0); 0 for the line before the first. */
  endOf(index: number): number {
    return index < 0 ? 0 : (this.#values[index] as number);
  }
}

/**
 * A ledger in a folder: `ledger.jsonl`, one canonical line an entry, append-only, one writer.
 *
 * `size`, `head`, `tree` and everything that is read tell of entries on disk only. Entries on their way there already
 * have their place in the chain: {@link nextParent} is the hash the next one will link to.
 */
export class DiskLedger {
  readonly folder: string;
  /** The Merkle tree over all entries on disk. Read only. */
  readonly tree = new MerkleTree();
  /** What was mended when the ledger was opened. */
  repair: LedgerRepair | undefined;

  readonly #ends = new Offsets();
  readonly #onEntry: OnEntry;
  readonly #growthListeners = new Set<(size: number) => void>();
  #file!: AppendFile;
  #release!: ReleaseLock;
  #head = GENESIS_HASH;
  #nextParent = GENESIS_HASH;
  #nextIndex = 0;
  #verifying: Promise<VerifiedLedger> | undefined;

  private constructor(folder: string, onEntry: OnEntry) {
    this.folder = folder;
    this.#onEntry = onEntry;
  }

  /**
   * Locks the folder, verifies the whole chain and mends a torn last line.
   *
   * @throws TallystickError `ledger_locked` when another process writes it
   * @throws LedgerLineError naming the line when the ledger is not what was written
   */
  static async open({ folder, onEntry, onFailure }: OpenLedgerParameters): Promise<DiskLedger> {
    const ledger = new DiskLedger(folder, onEntry ?? (() => {}));
    ledger.#release = await lockFolder(folder);
    try {
      ledger.repair = await loadLedger(ledger.path, (entry, leafHash, end) =>
        ledger.#add(entry, leafHash, end),
      );
      ledger.#nextParent = ledger.#head;
      ledger.#nextIndex = ledger.size;
      ledger.#file = await AppendFile.open(ledger.path, onFailure ?? (() => {}));
      return ledger;
    } catch (error) {
      await ledger.#release();
      throw error;
    }
  }

  /** The file. */
  get path(): string {
    return path.join(this.folder, LEDGER_FILE);
  }

  /** Number of entries on disk. */
  get size(): number {
    return this.tree.size;
  }

  /** Hash of the last entry on disk; 64 zeros without any. */
  get head(): string {
    return this.#head;
  }

  /** Hash that the next entry will have as its parent: the last one taken, on disk or on its way. */
  get nextParent(): string {
    return this.#nextParent;
  }

  /** Gives the next entry its parent and hash, and writes it. */
  append({ timestamp, taskId, payload }: NewEntry): Appended {
    const entry = sealEntry({ timestamp, taskId, parentHash: this.#nextParent, payload });
    const line = entryLine(entry);
    const leafHash = lineLeafHash(line);
    const index = this.#nextIndex++;
    this.#nextParent = entry.currentHash;
    const durable = this.#file.append(`${line}\n`).then(() => {
      this.#add(entry, leafHash, this.#ends.endOf(index - 1) + line.length + 1);
      for (const listener of this.#growthListeners) listener(this.size);
    });
    return { entry, index, durable };
  }

  /** Calls back after every new entry on disk, with the size. Returns how to stop it. */
  onGrowth(listener: (size: number) => void): () => void {
    this.#growthListeners.add(listener);
    return () => this.#growthListeners.delete(listener);
  }

  /**
   * The entry at a position, read from disk.
   *
   * @throws InvalidInputError naming `index` when there is none
   */
  async entry(index: number): Promise<LedgerEntry> {
    this.#checkRange(index, index + 1, "index", "index");
    const [start, end] = [this.#ends.endOf(index - 1), this.#ends.endOf(index)];
    const bytes = await this.#file.read(start, end - start);
    return parseEntryLine(bytes.toString("latin1", 0, bytes.length - 1));
  }

  /**
   * The canonical lines of the entries [from, to), newline behind each, in pieces as they are read.
   *
   * @throws InvalidInputError naming `from` or `to`, before the first piece
   */
  segment(from: number, to: number): AsyncGenerator<Buffer> {
    this.#checkRange(from, to, "from", "to");
    return this.#read(this.#ends.endOf(from - 1), this.#ends.endOf(to - 1));
  }

  async *#read(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      const piece = await this.#file.read(at, Math.min(1 << 18, end - at));
      if (piece.length === 0) return;
      at += piece.length;
      yield piece;
    }
  }

  /**
   * Reads the file again from its beginning and verifies every entry that was on disk when asked. Several askers at
   * one time share one reading.
   *
   * @throws LedgerLineError naming the first bad line
   */
  verify(): Promise<VerifiedLedger> {
    this.#verifying ??= this.#verify(this.size).finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #verify(size: number): Promise<VerifiedLedger> {
    const frontier = new MerkleFrontier();
    let head = GENESIS_HASH;
    for await (const lines of ledgerLines(this.path, this.#ends.endOf(size - 1))) {
      for (const { text } of lines) {
        const { entry, leafHash } = verifyLedgerLine(text, head, frontier.size + 1);
        // A forger can make a chain that holds together; it is another one than was written here.
        if (!bytesEqual(leafHash, this.tree.leaf(frontier.size))) {
          throw new LedgerLineError(frontier.size + 1, "the entry is not the one that was settled");
        }
        frontier.append(leafHash);
        head = entry.currentHash;
      }
    }
    if (frontier.size !== size)
      throw new LedgerLineError(frontier.size + 1, `the file ends here, before entry ${size}`);
    return { size, head, root: frontier.root() };
  }

  /** Waits until everything appended is on disk, then gives the folder free. */
  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      await this.#release();
    }
  }

  #add(entry: LedgerEntry, leafHash: Uint8Array, end: number): void {
    const index = this.tree.size;
    this.tree.append(leafHash);
    this.#ends.push(end);
    this.#head = entry.currentHash;
    this.#onEntry(entry, index);
  }

  #checkRange(from: number, to: number, fromField: string, toField: string): void {
    const issues = [];
    if (!Number.isSafeInteger(from) || from < 0 || from > this.size) {
      issues.push({ field: fromField, message: `must be an integer from 0 to ${this.size}` });
    }
    if (!Number.isSafeInteger(to) || to < 0 || to > this.size || to < from) {
      issues.push({ field: toField, message: `must be an integer from ${from} to ${this.size}` });
    }
    if (issues.length > 0) throw new InvalidInputError({ issues, code: "not_in_ledger" });
  }
}
