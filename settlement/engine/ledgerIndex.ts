import type { Address } from "../../protocol/address.ts";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "../../protocol/json/pythonJson.ts";
import type { LedgerEntry } from "../../protocol/ledger/entry.ts";
import { isConsensusType } from "../../protocol/records/consensus.ts";
import { GrowingNumbers } from "../ledger/growingNumbers.ts";
import { ConsensusTable } from "./consensusTable.ts";
import { FingerprintTable } from "./fingerprintTable.ts";
import { IndexDatabase, nameKey } from "./indexDatabase.ts";
import { recordKey } from "./recordKey.ts";

type PyObject = { [key: string]: PyJson };

/** A review as it stands in the ledger. */
export type SettledReview = { decision: string; hash: string; index: number };

/**
 * What the engine looks up in the ledger without reading it: which records it has, where a task's entries stand, the
 * shared state, the newest listings, consensus, reviews. All of it comes from the entries alone and is built again at
 * every start. Positions come out of a {@link FingerprintTable}: read the entry before relying on one. What has more to it
 * than a position is on disk: anybody may write stakes, votes and listings, and memory must not grow with them.
 */
export class LedgerIndex {
  readonly #positions = new FingerprintTable();
  /** For every entry the position of the entry before it with the same task id, plus one; 0 for none. */
  readonly #earlierOfTask = new GrowingNumbers(4);
  readonly #folder: string | undefined;
  #opened: Tables | undefined;
  #reviewCount = 0;

  /** @param folder the ledger's, which this process has locked when the first entry comes; in memory without one */
  constructor(folder?: string) {
    this.#folder = folder;
  }

  get #tables(): Tables {
    this.#opened ??= openTables(this.#folder);
    return this.#opened;
  }

  /** Takes in an entry that is on disk. */
  add(entry: LedgerEntry, index: number): void {
    const { payload, taskId, currentHash } = entry;
    const before = this.#positions.get(`task ${taskId}`);
    this.#earlierOfTask.push(before === undefined ? 0 : before + 1);
    this.#positions.set(`task ${taskId}`, index);
    this.#positions.set(`hash ${currentHash}`, index);

    if (isObject(payload.body)) this.#addRecord(entry, payload.body, index);
    else if (isObject(payload.data_update)) this.#addSettlement(payload, payload.data_update, index);
    this.#tables.database.entryTaken();
  }

  /** Position of the entry that holds the record with this key (see {@link recordKey}). */
  indexOfRecord(key: string): number | undefined {
    return this.#positions.get(`record ${key}`);
  }

  /** Position of the entry with this hash. */
  indexOfHash(hash: string): number | undefined {
    return this.#positions.get(`hash ${hash}`);
  }

  /**
   * Positions of a task's newest entries, oldest first.
   *
   * @param before only those that stand before this entry of the task
   */
  indexesOfTask(taskId: string, most: number, before?: number): number[] {
    const found: number[] = [];
    const earlierThan = (at: number): number | undefined => {
      const earlier = this.#earlierOfTask.at(at);
      return earlier === 0 ? undefined : earlier - 1;
    };
    let next = before === undefined ? this.#positions.get(`task ${taskId}`) : earlierThan(before);
    while (next !== undefined && found.length < most) {
      found.push(next);
      next = earlierThan(next);
    }
    return found.reverse();
  }

  /** The highest `issued_at` among the listings of one agent, capability and payment mode. */
  newestListing(offer: string): number | undefined {
    return (this.#tables.listing.get(nameKey(offer)) as { issued: number } | undefined)?.issued;
  }

  /** What the swarm has said of tasks. */
  get consensus(): ConsensusTable {
    return this.#tables.consensus;
  }

  /** The review of a held proposal, undefined while it waits. */
  reviewOf(heldId: string): SettledReview | undefined {
    const row = this.#tables.review.get(heldId) as SettledReview | undefined;
    return row && { decision: row.decision, hash: row.hash, index: row.index };
  }

  /** Number of reviews. */
  get reviews(): number {
    return this.#reviewCount;
  }

  /** Releases behind which nothing was settled yet: hash of the review → id of what it releases. */
  get unfinishedReleases(): ReadonlyMap<string, string> {
    const rows = this.#tables.openReleases.all() as { review: string; proposal: string }[];
    return new Map(rows.map(({ review, proposal }) => [review, proposal]));
  }

  /** Position of the entry that a release became, by the hash of its review. */
  releaseOf(review: string): number | undefined {
    return (this.#tables.release.get(review) as { at: number | null } | undefined)?.at ?? undefined;
  }

  /**
   * The slice of the shared state that a task needs (swarm.at §6.2): the keys asked for, and `core_logic`. The shared
   * state is every settled `data_update` laid over the ones before it, by top-level key, and over all of them the
   * institutional rules, which no agent can overwrite.
   */
  contextSlice(keywords: readonly string[], rules: PyObject = {}): PyObject {
    const slice: PyObject = {};
    for (const name of new Set([...keywords, "core_logic"])) {
      const value = Object.hasOwn(rules, name) ? rules[name] : this.#stateOf(name);
      if (value !== undefined) setOwn(slice, name, value);
    }
    return slice;
  }

  /** Ends it; its file is of no use any more. */
  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #stateOf(name: string): PyJson | undefined {
    const row = this.#tables.state.get(nameKey(name)) as { value: string } | undefined;
    return row && parsePythonJson(row.value);
  }

  #addRecord({ payload, taskId, currentHash, timestamp }: LedgerEntry, body: PyObject, index: number): void {
    const { type, signer } = payload;
    const key = `record ${recordKey({ type, signer, body }, () => taskId)}`;
    if (this.#positions.get(key) === undefined) this.#positions.set(key, index);
    if (type === "listing") this.#addListing(body);
    else if (type === "review") this.#addReview(body, currentHash, index);
    else if (isConsensusType(type)) {
      this.consensus.apply({
        taskId: String(body.task_id),
        type,
        proposal: String(body.proposal),
        signer: String(signer) as Address,
        index,
        time: Number(timestamp),
      });
    }
  }

  #addSettlement({ review }: PyObject, dataUpdate: PyObject, index: number): void {
    for (const [name, value] of Object.entries(dataUpdate))
      this.#tables.setState.run(nameKey(name), dumpsPythonJson(value));
    if (typeof review === "string") this.#tables.finishRelease.run(review, index);
  }

  #addListing(body: PyObject): void {
    const issuedAt = typeof body.issued_at === "bigint" ? Number(body.issued_at) : 0;
    // A time beyond every clock is the same as the latest that a number can count to.
    this.#tables.setListing.run(
      nameKey(offerKey(body)),
      Math.max(0, Math.min(issuedAt, Number.MAX_SAFE_INTEGER)),
    );
  }

  #addReview({ proposal, decision }: PyObject, hash: string, index: number): void {
    const id = String(proposal);
    if (this.#tables.addReview.run(id, String(decision), hash, index).changes === 0) return;
    this.#reviewCount++;
    if (decision === "release") this.#tables.addRelease.run(hash, id);
  }
}

type Tables = ReturnType<typeof openTables>;

function openTables(folder: string | undefined) {
  const database = new IndexDatabase(folder);
  const sql = (text: string) => database.prepare(text);
  return {
    database,
    consensus: new ConsensusTable(database),
    state: sql("SELECT value FROM state WHERE name = ?"),
    setState: sql("INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"),
    listing: sql("SELECT issued_at AS issued FROM listing WHERE offer = ?"),
    setListing: sql(
      "INSERT INTO listing VALUES (?, ?) ON CONFLICT (offer) DO UPDATE SET issued_at = max(issued_at, excluded.issued_at)",
    ),
    review: sql('SELECT decision, hash, at AS "index" FROM review WHERE proposal = ?'),
    addReview: sql("INSERT INTO review VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"),
    openReleases: sql("SELECT review, proposal FROM release WHERE at IS NULL"),
    release: sql("SELECT at FROM release WHERE review = ?"),
    addRelease: sql("INSERT INTO release (review, proposal) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    finishRelease: sql(
      "INSERT INTO release (review, at) VALUES (?, ?) ON CONFLICT (review) DO UPDATE SET at = excluded.at",
    ),
  };
}

/** Sets an own property even when its name is `__proto__`. */
function setOwn(target: PyObject, name: string, value: PyJson): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** What makes listings offers of the same thing: agent, capability and payment mode. */
export function offerKey(body: { [key: string]: unknown }): string {
  return [body.agent_id, body.capability, body.payment_mode ?? "direct"].join(" ");
}
