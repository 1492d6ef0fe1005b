import path from "node:path";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { GENESIS_HASH, type LedgerEntry, parseEntryLine, sealLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError, type VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { ReleaseLock } from "tallystick-runtime/processes/lockFolder";
import { type Flush, flushAfter, MAX_FLUSH_BYTES } from "../standby/flush.ts";
import { AppendFile, type OpenAppendFileParameters } from "./appendFile.ts";
import { GrowingNumbers } from "./growingNumbers.ts";
import { type FileLine, ledgerLines } from "./ledgerLines.ts";
import type { LedgerStore, NumberStore, StorePosition } from "./ledgerStore.ts";
import { type LedgerRepair, loadLedger } from "./loadLedger.ts";
import { lockFolder } from "./lockFolder.ts";
import { tailProblem, verifyBeginning } from "./verifyKnown.ts";
import { notTaken, refusal, unavailable } from "./writeErrors.ts";

/** Name of the ledger's file in its folder. */
export const LEDGER_FILE = "ledger.jsonl";

/** Longest line of an entry, in bytes. C2SP tlog-tiles writes the length of an entry in 16 bits. */
export const MAX_ENTRY_BYTES = 65_535;

/** The most bytes that wait for a slow disk. Above this, new entries are refused. */
export const MAX_WAITING_BYTES = 32 << 20;

/** The number of older entries that {@link DiskLedger.verifyGrowth} reads again each time. */
export const SCRUB_ENTRIES = 20_000;

/**
 * How many of the last entries are verified before anything is served, if a store knows the ledger.
 * {@link DiskLedger.readRest} verifies the other ones later.
 */
export const TAIL_ENTRIES = 20_000;

/** The place of an entry's hash in its canonical line. */
const CURRENT_HASH_AT = '{"current_hash": "'.length;

const PARENT_HASH_AT = CURRENT_HASH_AT + 64 + '", "parent_hash": "'.length;

/** The content of a new entry. The ledger adds parent and hash. `timestamp` in seconds. */
export type NewEntry = { timestamp: number; taskId: string; payload: { [key: string]: PyJson } };

/**
 * A new entry with its position. `durable` resolves once the entry cannot be lost. Tell nobody of the entry
 * before that.
 */
export type Appended = { entry: LedgerEntry; index: number; durable: Promise<void> };

/** An entry on disk, its position from 0, and the byte after its line. */
export type OnEntry = (entry: LedgerEntry, index: number, end: number) => void;

export type OpenLedgerParameters = {
  /** Folder of this ledger; created if needed. */
  folder: string;
  /**
   * Called with every entry on disk, in order: first with the existing ones that the store does not know,
   * later with the new ones.
   */
  onEntry?: OnEntry;
  /**
   * Opens the store of facts about the file from an earlier run, once the folder is locked. Default: there is
   * none.
   */
  openStore?: () => LedgerStore;
  /** The number of the last entries in the store that are verified at the opening. */
  tailEntries?: number;
  /**
   * Called when the content of the disk is no longer known, or an entry on disk cannot be taken into memory. The ledger
   * accepts nothing more, and the process should end.
   */
  onFailure?: (error: Error) => void;
  /**
   * Called when a write was refused and undone. The waiting entries were not settled. The ledger continues.
   */
  onUndone?: (error: Error) => void;
  /** Called after every write that is on disk, with the time that the disk took, in seconds. */
  onSynced?: (seconds: number) => void;
  /** How the file is opened; replaced in tests by a disk that fails. */
  openFile?: OpenAppendFileParameters["openFile"];
};

/**
 * A ledger in a folder: `ledger.jsonl`, with one canonical line for each entry. It is append-only and has one writer.
 *
 * `size`, `head`, `tree` and all reads cover only entries on disk. {@link nextParent} is ahead of them: it is the hash of
 * the last accepted entry, even while that entry is being written.
 */
export class DiskLedger {
  readonly folder: string;
  /** The repairs that were made when the ledger was opened. */
  repair: LedgerRepair | undefined;

  #tree = new MerkleTree(sha256ByNode);
  /** The end of each line: the byte after it. */
  #ends: NumberStore = new GrowingNumbers();
  /** How many of the file's first entries this process has not read yet. */
  #unread = 0;
  readonly #onEntry: OnEntry;
  readonly #growthListeners = new Set<(size: number) => void>();
  #file!: AppendFile;
  #release!: ReleaseLock;
  #head = GENESIS_HASH;
  #nextParent = GENESIS_HASH;
  #nextIndex = 0;
  /** Why an entry that is on disk could not be taken into memory. Later entries would get its place. */
  #fault: TallystickError | undefined;
  #verifying: Promise<VerifiedLedger> | undefined;
  #rest: Promise<void> = Promise.resolve();
  /** Entries before this position were read from disk at least once, except the {@link unread} ones. */
  #readBack = 0;
  /** {@link verifyGrowth} has read the entries before this position again in its present round. */
  #scrubbed = 0;

  private constructor(folder: string, onEntry: OnEntry) {
    this.folder = folder;
    this.#onEntry = onEntry;
  }

  /**
   * Locks the folder, verifies the chain and repairs an incomplete last line. If a store knows the ledger from an earlier
   * opening, only the first entry and the last {@link TAIL_ENTRIES} are verified here; {@link readRest} does the rest.
   *
   * @throws TallystickError `ledger_locked` when another process writes it
   * @throws LedgerLineError naming the line when the ledger is not what was written
   */
  static async open(parameters: OpenLedgerParameters): Promise<DiskLedger> {
    const { folder, onEntry, onFailure = () => {}, onUndone, onSynced, openFile, openStore } = parameters;
    const ledger = new DiskLedger(folder, onEntry ?? (() => {}));
    ledger.#release = await lockFolder(folder);
    try {
      ledger.#file = await AppendFile.open({
        filePath: ledger.path,
        prepare: async () => {
          const known = openStore && (await ledger.#useStore(openStore(), parameters.tailEntries));
          ledger.repair = await loadLedger(
            ledger.path,
            (entry, leafHash, end) => ledger.#add(entry, leafHash, end),
            known,
          );
        },
        onFailure,
        onUndone: (error) => {
          // Entries that were being written are lost with the write. The chain continues from the last entry
          // on disk.
          ledger.#nextParent = ledger.#head;
          ledger.#nextIndex = ledger.size;
          onUndone?.(error);
        },
        ...(onSynced && { onSynced }),
        ...(openFile && { openFile }),
      });
      ledger.#nextParent = ledger.#head;
      ledger.#nextIndex = ledger.size;
      ledger.#readBack = ledger.size;
      return ledger;
    } catch (error) {
      await ledger.#release();
      throw error;
    }
  }

  /** Uses a store's facts, if the file agrees with them. */
  async #useStore(store: LedgerStore, tailEntries = TAIL_ENTRIES): Promise<StorePosition | undefined> {
    const take = (size: number) => {
      this.#tree = new MerkleTree(sha256ByNode, { size, level: (level) => store.hashes(level) });
      this.#ends = store.ends();
    };
    const known = store.position();
    take(known.size);
    const wrong = known.size === 0 ? undefined : await tailProblem(this, known, tailEntries);
    if (known.size > 0 && wrong === undefined) {
      this.#head = known.head;
      this.#unread = Math.max(0, known.size - tailEntries);
      return known;
    }
    if (wrong !== undefined) store.clear(wrong);
    take(0);
    return undefined;
  }

  /** How many of the file's first entries this process has not read yet. */
  get unread(): number {
    return this.#unread;
  }

  /**
   * Verifies the entries that were not read at the opening, on all cores.
   *
   * @returns whether their root is the one in the store. If not, somebody changed the store
   * @throws LedgerLineError naming the first bad line
   */
  async readRest(
    options: { signal?: AbortSignal; onProgress?: (lines: number) => void } = {},
  ): Promise<boolean> {
    const size = this.#unread;
    if (size > 0) {
      const head = size < this.size ? (await this.envelope(size)).parentHash : this.#head;
      const root = await verifyBeginning(this.path, { size, head, end: this.#endOf(size - 1) }, options);
      if (!this.#hasRoot(size, root)) return false;
    }
    this.#unread = 0;
    return true;
  }

  #hasRoot(size: number, root: Uint8Array): boolean {
    try {
      return bytesEqual(this.tree.root(size), root);
    } catch {
      // The store lacks hashes of the tree.
      return false;
    }
  }

  /** The lines of the entries [from, to), in groups as they are read. */
  readonly linesOf = (from: number, to: number): AsyncGenerator<FileLine[]> =>
    ledgerLines(this.path, this.#endOf(to - 1), this.#endOf(from - 1));

  /** The Merkle tree over all entries on disk. Read only. */
  get tree(): MerkleTree {
    return this.#tree;
  }

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

  /**
   * The parent hash of the next entry: the hash of the last accepted entry, even if it is still being
   * written.
   */
  get nextParent(): string {
    return this.#nextParent;
  }

  /**
   * Gives the next entry its parent and hash, and writes it.
   *
   * @throws TallystickError `payload_too_large` (413) when its line would be longer than {@link MAX_ENTRY_BYTES};
   * `ledger_unavailable` (503) when the disk does not keep up
   */
  append(entry: NewEntry): Appended {
    if (this.#file.waitingBytes > MAX_WAITING_BYTES) throw unavailable("The disk does not keep up.");
    const { entry: sealed, line } = sealFitting({ ...entry, parentHash: this.#nextParent });
    return this.#write(sealed, sha256ByNode(`\0${line}`), line);
  }

  /**
   * Checks that an entry could be appended later.
   *
   * @throws TallystickError `payload_too_large` (413), as {@link append}
   */
  requireFits(entry: NewEntry): void {
    sealFitting({ ...entry, parentHash: this.#nextParent });
  }

  #write(entry: LedgerEntry, leaf: Uint8Array, line: string): Appended {
    const index = this.#nextIndex++;
    this.#nextParent = entry.currentHash;
    const durable = this.#file.append(`${line}\n`).then(() => {
      if (this.#fault) throw this.#fault;
      try {
        this.#add(entry, leaf, this.#endOf(index - 1) + line.length + 1);
        for (const listener of this.#growthListeners) listener(this.size);
      } catch (cause) {
        // The tree may lack the entry, or have half of it. It must not grow, and its root must not be signed.
        this.#fault = notTaken(cause);
        this.#file.abandon(refusal(cause));
        throw this.#fault;
      }
    });
    return { entry, index, durable };
  }

  /**
   * Appends entries that were committed elsewhere. All are verified before any is written.
   *
   * @param lines canonical, each with its newline
   * @throws LedgerLineError naming the first line that does not continue the ledger or is invalid
   */
  async take(lines: string): Promise<void> {
    const chain = new LedgerChain({
      sha256: sha256ByNode,
      parentHash: this.#head,
      firstIndex: this.size,
    });
    const checked = lines
      .split("\n")
      .slice(0, -1)
      .map((line) => chain.nextEntry(line));
    await Promise.all(checked.map(({ entry, leafHash, line }) => this.#write(entry, leafHash, line).durable));
  }

  /**
   * From now on, `commit` commits every flush before it is written here, and no entry is durable before that.
   * When `commit` throws, the ledger accepts nothing more. Call this while nothing is being written.
   */
  commitBy(commit: (flush: Flush) => Promise<void>): void {
    let position = { next: this.size, head: this.#head };
    this.#file.commitBy(async (bytes) => {
      const flush = flushAfter(position, bytes.toString("latin1"));
      await commit(flush);
      position = flush;
    }, MAX_FLUSH_BYTES);
  }

  /** Calls back after every new entry on disk, with the size. Returns a function that stops this. */
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
    const [start, end] = [this.#endOf(index - 1), this.#endOf(index)];
    const bytes = await this.#file.read(start, end - start);
    return parseEntryLine(bytes.toString("latin1", 0, bytes.length - 1));
  }

  /**
   * The fields of the entry at a position, without its payload. The payload may be long and is not parsed.
   *
   * @throws InvalidInputError naming `index` when there is none
   */
  async envelope(
    index: number,
  ): Promise<{ taskId: string; parentHash: string; currentHash: string; timestamp: number }> {
    this.#checkRange(index, index + 1, "index", "index");
    const [start, end] = [this.#endOf(index - 1), this.#endOf(index)];
    const line = (await this.#file.read(start, end - start)).toString("latin1", 0, end - start - 1);
    // The keys of a line are sorted: the hash is first, task and time are last. A quote inside a string would be
    // escaped, so these texts mark keys only.
    const tail = line.lastIndexOf(', "task_id": "');
    const { task_id: taskId, timestamp } = JSON.parse(`{${line.slice(tail + 1)}`);
    return {
      taskId,
      currentHash: line.slice(CURRENT_HASH_AT, CURRENT_HASH_AT + 64),
      parentHash: line.slice(PARENT_HASH_AT, PARENT_HASH_AT + 64),
      timestamp: Number(timestamp),
    };
  }

  /**
   * The canonical lines of the entries [from, to), each with its newline, in pieces as they are read.
   *
   * @throws InvalidInputError naming `from` or `to`, before the first piece
   */
  segment(from: number, to: number): AsyncGenerator<Buffer> {
    this.#checkRange(from, to, "from", "to");
    return this.#read(this.#endOf(from - 1), this.#endOf(to - 1));
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
   * Reads the file again from its beginning, and verifies every entry that is on disk when the reading starts. A
   * caller that comes during a reading gets the result of this reading, which does not cover newer entries. The next
   * reading starts after a pause that is as long as the last reading. So repeated calls cannot keep the service busy
   * all the time.
   *
   * @throws LedgerLineError naming the first bad line
   */
  verify(): Promise<VerifiedLedger> {
    this.#verifying ??= this.#verifyAfterRest().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #verifyAfterRest(): Promise<VerifiedLedger> {
    await this.#rest;
    const start = performance.now();
    try {
      return await this.#verify(this.size);
    } finally {
      const took = performance.now() - start;
      this.#rest = new Promise((resolve) => {
        setTimeout(resolve, took).unref();
      });
    }
  }

  async #verify(size: number): Promise<VerifiedLedger> {
    const frontier = new MerkleFrontier(sha256ByNode);
    const chain = new LedgerChain({ sha256: sha256ByNode });
    for await (const lines of ledgerLines(this.path, this.#endOf(size - 1))) {
      for (const line of lines) {
        const leaf = chain.next(line);
        // A forged chain can be consistent in itself, but its entries are not the ones that were written.
        if (!bytesEqual(leaf, this.tree.leaf(frontier.size))) {
          throw new LedgerLineError(frontier.size + 1, "the entry is not the one that was settled");
        }
        frontier.append(leaf);
      }
    }
    if (frontier.size !== size)
      throw new LedgerLineError(frontier.size + 1, `the file ends here, before entry ${size}`);
    return { size, head: chain.head, root: frontier.root() };
  }

  /**
   * Reads back the entries since the last call and the next {@link SCRUB_ENTRIES} older entries, and compares
   * them with the tree. Entries that were read at the opening, or by {@link readRest}, count as read.
   *
   * @returns the size up to which everything was read at least once; undefined while there are {@link unread}
   * entries. Then nothing is read back
   * @throws LedgerLineError naming the first line that is not the settled one
   */
  async verifyGrowth(): Promise<number | undefined> {
    if (this.#unread > 0) return undefined;
    const size = this.size;
    const scrubTo = Math.min(this.#readBack, this.#scrubbed + SCRUB_ENTRIES);
    await this.#compare(this.#scrubbed, scrubTo);
    this.#scrubbed = scrubTo === this.#readBack ? 0 : scrubTo;
    await this.#compare(this.#readBack, size);
    this.#readBack = size;
    return size;
  }

  /** Compares the lines of the entries [from, to) with the tree's leaves. */
  async #compare(from: number, to: number): Promise<void> {
    let index = from;
    for await (const lines of this.linesOf(from, to)) {
      for (const { bytes } of lines) {
        if (index >= to || !bytesEqual(leafHash(bytes, sha256ByNode), this.tree.leaf(index))) {
          throw new LedgerLineError(index + 1, "the entry is not the one that was settled");
        }
        index++;
      }
    }
    if (index !== to) throw new LedgerLineError(index + 1, `the file ends here, before entry ${to}`);
  }

  /**
   * Checks that the file is still the opened one, and contains only what this process wrote.
   *
   * @throws TallystickError `ledger_unavailable` (503) when it is not; `onFailure` is called too. Throws also when the
   * ledger accepts nothing more for another reason
   */
  checkFile(): Promise<void> {
    return this.#file.check();
  }

  /** Waits until everything appended is on disk, then unlocks the folder. */
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
    this.#onEntry(entry, index, end);
  }

  /** The byte after the line at a position; 0 for the line before the first. */
  #endOf(index: number): number {
    return index < 0 ? 0 : this.#ends.at(index);
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

/** @throws TallystickError `payload_too_large` (413) when the line would be longer than {@link MAX_ENTRY_BYTES} */
function sealFitting(entry: NewEntry & { parentHash: string }): ReturnType<typeof sealLine> {
  const sealed = sealLine(entry, sha256ByNode);
  if (sealed.line.length <= MAX_ENTRY_BYTES) return sealed;
  throw new TallystickError({
    code: "payload_too_large",
    message: `The entry would have ${sealed.line.length} bytes in the ledger, more than ${MAX_ENTRY_BYTES}.`,
    hint: "Keep the content elsewhere and settle its hash. Most characters that are not printable ASCII take six or twelve bytes.",
  });
}
