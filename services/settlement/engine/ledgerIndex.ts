import { hash } from "node:crypto";
import type { Address } from "tallystick-protocol/address";
import type { TallystickError } from "tallystick-protocol/errors";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { isBoundType } from "tallystick-protocol/records/binding";
import { isConsensusType } from "tallystick-protocol/records/consensus";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LedgerStore, StorePosition } from "../ledger/ledgerStore.ts";
import type { ConsensusTable } from "./consensusTable.ts";
import { type IndexOptions, nameKey, removeIndex } from "./indexDatabase.ts";
import { openTables, type IndexTables as Tables, indexUnavailable as unavailable } from "./indexTables.ts";
import { lookupText } from "./lookupText.ts";
import { recordKey } from "./recordKey.ts";

type PyObject = { [key: string]: PyJson };

/** A review in the ledger. */
export type SettledReview = { decision: string; hash: string; index: number };

/** The names of the notes that the index stores in addition to its tables. */
const REVIEWS = "reviews";
const HAS_BOUND = "has bound records";
const OUTCOMES_FROM = "outcomes from";
const TOLD_HOUR = "told hour";

/**
 * SQLite's error codes for three cases: the file is damaged, it is not a database, or it already has rows for
 * an entry that is only added now.
 */
const DAMAGED = [11, 26, 19];

export type LedgerIndexOptions = Omit<IndexOptions, "salt"> & {
  /**
   * Called when the index is damaged and its file was deleted. The process should end. The next start makes a
   * new index.
   */
  onFailure?: (error: Error) => void;
  /**
   * Called with the reason when the disk refuses the index. Until the index is complete again, no look-up
   * works.
   */
  onBehind?: (error: TallystickError) => void;
};

/**
 * The engine's look-ups, which do not read the ledger: its records, the entries of a task, the shared
 * state, the newest listings, consensus and reviews. All of it follows from the entries. It is on disk (see
 * `IndexDatabase`), because anybody may write records and memory must not grow with them. Positions are found
 * by 64 bits of a salted hash, which two entries may share. So read the entry before you rely on its
 * position.
 *
 * When the disk refuses a change, the index goes back to its committed state and is behind the ledger until
 * {@link catchUp}. Until then it refuses look-ups, because they could be wrong.
 */
export class LedgerIndex {
  readonly #folder: string | undefined;
  readonly #options: LedgerIndexOptions & { salt?: string };
  #opened: Tables | undefined;
  #behind: TallystickError | undefined;
  #isRefused = false;
  /** The number of entries in its tables, committed or not; and its position in the ledger. */
  #size = 0;
  #ledger: StorePosition = { size: 0, end: 0, head: "" };
  #reviewCount = 0;
  #hasBound = false;
  #outcomesFrom: number | undefined;
  #toldHour: number | undefined;

  /**
   * @param folder the ledger's folder, which this process must have locked. Without a folder, the index is in memory
   */
  constructor(folder?: string, options: LedgerIndexOptions & { salt?: string } = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** The store of the ledger's facts about its own file. Call this when the folder is locked. */
  openStore(): LedgerStore {
    const database = () => this.#open().database;
    return {
      position: () => database().position(),
      hashes: (level) => database().hashes(level),
      ends: () => database().ends(),
      clear: () => this.#clear(),
    };
  }

  /** The salt of its fingerprints. An index that is compared with it needs the same salt. */
  get salt(): string {
    return this.#open().database.salt;
  }

  /** The ledger's name. Only records for this ledger count. */
  get ledgerName(): LedgerName {
    return this.#options.ledger ?? "local";
  }

  /** Commits all changes to disk. */
  commit(): void {
    this.#tables.database.commit(this.#ledger);
  }

  /** Why it is behind the ledger; undefined while it is not. */
  get behind(): TallystickError | undefined {
    return this.#behind;
  }

  /** The number of the ledger's entries that it contains. */
  get size(): number {
    this.#open();
    return this.#size;
  }

  #open(): Tables {
    if (this.#opened) return this.#opened;
    try {
      this.#opened = openTables(this.#folder, this.#options);
    } catch (error) {
      throw unavailable(error);
    }
    this.#ledger = this.#opened.database.position();
    this.#readNotes();
    return this.#opened;
  }

  #readNotes(): void {
    const { database, note } = this.#open();
    const value = (name: string) => (note.get(name) as { value: number } | undefined)?.value;
    this.#size = database.position().size;
    this.#reviewCount = value(REVIEWS) ?? 0;
    this.#outcomesFrom = value(OUTCOMES_FROM);
    this.#toldHour = value(TOLD_HOUR);
    this.#hasBound = value(HAS_BOUND) === 1;
  }

  #clear(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
    if (this.#folder !== undefined) removeIndex(this.#folder);
    this.#open();
  }

  /** The tables. Throws while they do not agree with the ledger. */
  get #tables(): Tables {
    if (this.#behind) throw this.#behind;
    return this.#open();
  }

  /** Runs a look-up. If the file is damaged, it is deleted, so that no later start relies on it. */
  #look<T>(read: (tables: Tables) => T): T {
    const tables = this.#tables;
    try {
      return read(tables);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Takes an entry that is on disk. `end` is the byte after its line. */
  add(entry: LedgerEntry, index: number, end = 0): void {
    const tables = this.#open();
    this.#ledger = { size: index + 1, end, head: entry.currentHash };
    // The entry is added by `catchUp` later.
    if (this.#behind) return;
    try {
      this.#add(tables, entry, index);
      tables.database.entryTaken(this.#ledger);
    } catch (error) {
      this.#failed(error, true);
    }
  }

  #add(tables: Tables, entry: LedgerEntry, index: number): void {
    const { payload, taskId, currentHash } = entry;
    const before = this.#swap(tables, `task ${taskId}`, index);
    if (before !== undefined) tables.setEarlier.run(index, before);
    this.#swap(tables, `hash ${currentHash}`, index);
    if (isObject(payload.body)) this.#addRecord(tables, entry, payload.body, index);
    else if (isObject(payload.data_update)) this.#addSettlement(tables, entry, payload.data_update, index);
    this.#size = index + 1;
  }

  /**
   * Adds the entries that came while the disk refused changes, and commits them.
   *
   * @param read reads an entry of the ledger
   * @returns whether it is complete again
   */
  async catchUp(read: (index: number) => Promise<LedgerEntry>): Promise<boolean> {
    const tables = this.#open();
    if (this.#isRefused) return false;
    try {
      while (this.#size < this.#ledger.size) {
        const at = this.#size;
        const entry = await read(at);
        if (this.#opened !== tables || this.#isRefused) return false;
        this.#add(tables, entry, at);
      }
      tables.database.commit(this.#ledger);
      this.#behind = undefined;
      return true;
    } catch (error) {
      this.#failed(error, true);
      return false;
    }
  }

  /** The error for a failed change. The change is undone, together with everything that was not committed. */
  #failed(error: unknown, isChange = false): unknown {
    const { errcode } = error as { errcode?: number };
    if (errcode === undefined) throw error;
    const refusal = unavailable(error);
    if (DAMAGED.includes(errcode & 0xff)) {
      if (this.#folder !== undefined) removeIndex(this.#folder);
      this.#behind = refusal;
      this.#options.onFailure?.(refusal);
      return refusal;
    }
    if (!isChange) return refusal;
    const wasWhole = this.#behind === undefined;
    this.#behind = refusal;
    try {
      this.#open().database.undo();
      this.#readNotes();
    } catch (cause) {
      this.#options.onFailure?.(unavailable(cause));
    }
    if (wasWhole) this.#options.onBehind?.(refusal);
    return refusal;
  }

  /** Position of the entry that holds the record with this key (see {@link recordKey}). */
  indexOfRecord(key: string): number | undefined {
    return this.#look((tables) => this.#at(tables, `record ${key}`));
  }

  /** Position of the entry with this hash. */
  indexOfHash(hash: string): number | undefined {
    return this.#look((tables) => this.#at(tables, `hash ${hash}`));
  }

  /**
   * Positions of a task's newest entries, oldest first.
   *
   * @param before only the entries before this entry of the task
   */
  indexesOfTask(taskId: string, most: number, before?: number): number[] {
    return this.#look((tables) => {
      const found: number[] = [];
      const earlierThan = (at: number) => (tables.earlier.get(at) as { before: number } | undefined)?.before;
      let next = before === undefined ? this.#at(tables, `task ${taskId}`) : earlierThan(before);
      while (next !== undefined && found.length < most) {
        found.push(next);
        next = earlierThan(next);
      }
      return found.reverse();
    });
  }

  /** The highest `issued_at` among the listings of one agent, capability and payment mode. */
  newestListing(offer: string): number | undefined {
    return this.#look(
      ({ listing }) => (listing.get(nameKey(offer)) as { issued: number } | undefined)?.issued,
    );
  }

  get consensus(): ConsensusTable {
    return this.#tables.consensus;
  }

  /** The review of a held proposal, undefined while it waits. */
  reviewOf(heldId: string): SettledReview | undefined {
    const row = this.#look(({ review }) => review.get(heldId) as SettledReview | undefined);
    return row && { decision: row.decision, hash: row.hash, index: row.index };
  }

  get reviews(): number {
    return this.#reviewCount;
  }

  /** Position of the first entry that may report an agent's outcome; undefined without one. */
  get outcomesFrom(): number | undefined {
    this.#open();
    return this.#outcomesFrom;
  }

  /** The last hour whose outcomes were reported, as unix seconds / 3600. */
  get toldHour(): number | undefined {
    this.#open();
    return this.#toldHour;
  }

  /** Releases that were not settled yet: the hash of the review → the id of the released proposal. */
  get unfinishedReleases(): ReadonlyMap<string, string> {
    const rows = this.#look(({ openReleases }) => openReleases.all()) as {
      review: string;
      proposal: string;
    }[];
    return new Map(rows.map(({ review, proposal }) => [review, proposal]));
  }

  /** Position of the entry that a release became, by the hash of its review. */
  releaseOf(review: string): number | undefined {
    return this.#look(
      ({ release }) => (release.get(review) as { at: number | null } | undefined)?.at ?? undefined,
    );
  }

  /** Positions of entries with an action that are no older than `seconds` before the last of them. */
  actionsWithin(seconds: number): number[] {
    return this.#look(({ actions }) => (actions.all(seconds) as { at: number }[]).map(({ at }) => at));
  }

  /**
   * The slice of the shared state that a task needs (swarm.at §6.2): the requested keys, and `core_logic`. The shared
   * state is made of all settled `data_update` objects: for each top-level key, the latest value counts. If the
   * institutional rules have a key, their value replaces this value. So no agent can overwrite the rules.
   */
  contextSlice(keywords: readonly string[], rules: PyObject = {}): PyObject {
    const slice: PyObject = {};
    for (const name of new Set([...keywords, "core_logic"])) {
      const value = Object.hasOwn(rules, name) ? rules[name] : this.#stateOf(name);
      if (value !== undefined) setOwn(slice, name, value);
    }
    return slice;
  }

  /**
   * Stops using the index permanently, because it does not agree with the ledger. All later look-ups are
   * refused with the reason. The file is deleted, so the next start makes a new one.
   */
  refuse(reason: TallystickError): void {
    this.#isRefused = true;
    this.#behind = reason;
    if (this.#folder !== undefined) removeIndex(this.#folder);
  }

  /** Commits all changes to disk and closes the index. */
  close(): void {
    const tables = this.#opened;
    this.#opened = undefined;
    const isWhole = this.#behind === undefined && this.#size === this.#ledger.size;
    try {
      tables?.database.close(isWhole ? this.#ledger : undefined);
    } catch {
      // The next start makes a new one, and nothing is lost.
    }
  }

  #stateOf(name: string): PyJson | undefined {
    const row = this.#look(({ state }) => state.get(nameKey(name)) as { value: string } | undefined);
    return row && parsePythonJson(row.value);
  }

  #fingerprint({ database }: Tables, name: string): bigint {
    return hash("sha256", database.salt + name, "buffer").readBigInt64LE();
  }

  #at(tables: Tables, name: string): number | undefined {
    return (tables.position.get(this.#fingerprint(tables, name)) as { at: number } | undefined)?.at;
  }

  /** Stores a position for a name. Returns the position that was stored before, if there was one. */
  #swap(tables: Tables, name: string, at: number): number | undefined {
    const key = this.#fingerprint(tables, name);
    const before = (tables.position.get(key) as { at: number } | undefined)?.at;
    tables.setPosition.run(key, at);
    return before;
  }

  #addRecord(tables: Tables, entry: LedgerEntry, body: PyObject, index: number): void {
    const { payload, taskId, currentHash, timestamp } = entry;
    const { type, signer } = payload;
    // A record for another ledger, or in a form that no longer counts here, is ignored. So it blocks no later
    // record.
    if (!this.#counts(tables, type, body)) return;
    const key = this.#fingerprint(tables, `record ${recordKey({ type, signer, body }, () => taskId)}`);
    tables.addPosition.run(key, index);
    if (type === "listing") this.#addListing(tables, body);
    else if (type === "review") this.#addReview(tables, body, currentHash, index);
    else if (type === "outcomes") this.#addOutcomes(tables, body);
    else if (isConsensusType(type)) {
      tables.consensus.apply({
        taskId: lookupText(body.task_id),
        type,
        proposal: lookupText(body.proposal),
        signer: lookupText(signer) as Address,
        index,
        time: Number(timestamp),
      });
    }
  }

  /**
   * Whether a record counts, as in the derivation: records of the older form count in a ledger until its first record
   * of the new form. Notes that first record.
   */
  #counts(tables: Tables, type: PyJson | undefined, body: PyObject): boolean {
    if (typeof type !== "string" || !isBoundType(type)) return true;
    if (!Object.hasOwn(body, "type") && !Object.hasOwn(body, "ledger")) return !this.#hasBound;
    if (body.type !== type || body.ledger !== this.ledgerName) return false;
    if (!this.#hasBound) tables.setNote.run(HAS_BOUND, 1);
    this.#hasBound = true;
    return true;
  }

  #addSettlement(
    tables: Tables,
    { payload, timestamp }: LedgerEntry,
    dataUpdate: PyObject,
    at: number,
  ): void {
    for (const [name, value] of Object.entries(dataUpdate))
      tables.setState.run(nameKey(name), dumpsPythonJson(value));
    if (typeof dataUpdate.action === "string") tables.addAction.run(at, Number(timestamp));
    if (typeof payload.agent === "string") this.#addOutcome(tables, at);
    if (typeof payload.review === "string") tables.finishRelease.run(payload.review, at);
  }

  #addListing(tables: Tables, body: PyObject): void {
    const issuedAt = typeof body.issued_at === "bigint" ? Number(body.issued_at) : 0;
    // A time that is too large for an exact number counts as the largest exact number.
    tables.setListing.run(nameKey(offerKey(body)), Math.max(0, Math.min(issuedAt, Number.MAX_SAFE_INTEGER)));
  }

  #addReview(tables: Tables, { proposal, decision }: PyObject, hash: string, index: number): void {
    const id = lookupText(proposal);
    if (tables.addReview.run(id, lookupText(decision), hash, index).changes === 0) return;
    tables.setNote.run(REVIEWS, ++this.#reviewCount);
    if (decision === "release") tables.addRelease.run(hash, id);
    else this.#addOutcome(tables, index);
  }

  #addOutcome(tables: Tables, at: number): void {
    if (this.#outcomesFrom !== undefined) return;
    tables.setNote.run(OUTCOMES_FROM, at);
    this.#outcomesFrom = at;
  }

  #addOutcomes(tables: Tables, { hour }: PyObject): void {
    const told = Number(lookupText(hour) || Number.NaN);
    if (!Number.isSafeInteger(told) || told <= (this.#toldHour ?? -1)) return;
    tables.setNote.run(TOLD_HOUR, told);
    this.#toldHour = told;
  }
}

/** Sets an own property even when its name is `__proto__`. */
function setOwn(target: PyObject, name: string, value: PyJson): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The identity of an offer: agent, capability and payment mode. */
export function offerKey(body: { [key: string]: unknown }): string {
  return [body.agent_id, body.capability, body.payment_mode ?? "direct"].map(lookupText).join(" ");
}
