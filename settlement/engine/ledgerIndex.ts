import type { Address } from "../../protocol/address.ts";
import { TaskConsensus } from "../../protocol/consensus/taskConsensus.ts";
import type { PyJson } from "../../protocol/json/pythonJson.ts";
import type { LedgerEntry } from "../../protocol/ledger/entry.ts";
import { isConsensusType } from "../../protocol/records/consensus.ts";
import { GrowingNumbers } from "../ledger/growingNumbers.ts";
import { FingerprintTable } from "./fingerprintTable.ts";
import { recordKey } from "./recordKey.ts";

type PyObject = { [key: string]: PyJson };

/** A review as it stands in the ledger. */
export type SettledReview = { decision: string; hash: string; index: number };

/**
 * What the engine looks up in the ledger without reading it: which records it has, where a task's entries stand, the
 * shared state, the newest listings, consensus, reviews. All of it comes from the entries alone and is built again at
 * every start. Positions come out of a {@link FingerprintTable}: read the entry before relying on one.
 */
export class LedgerIndex {
  readonly #positions = new FingerprintTable();
  /** For every entry the position of the entry before it with the same task id, plus one; 0 for none. */
  readonly #earlierOfTask = new GrowingNumbers(4);
  readonly #state = new Map<string, PyJson>();
  readonly #listings = new Map<string, number>();
  readonly #consensus = new Map<string, TaskConsensus>();
  readonly #reviews = new Map<string, SettledReview>();
  readonly #unfinishedReleases = new Map<string, string>();
  readonly #releases = new Map<string, number>();

  /** Takes in an entry that is on disk. */
  add(entry: LedgerEntry, index: number): void {
    const { payload, taskId, currentHash } = entry;
    const before = this.#positions.get(`task ${taskId}`);
    this.#earlierOfTask.push(before === undefined ? 0 : before + 1);
    this.#positions.set(`task ${taskId}`, index);
    this.#positions.set(`hash ${currentHash}`, index);

    if (isObject(payload.body)) this.#addRecord(entry, payload.body, index);
    else if (isObject(payload.data_update)) this.#addSettlement(payload, payload.data_update, index);
  }

  /** Position of the entry that holds the record with this key (see {@link recordKey}). */
  indexOfRecord(key: string): number | undefined {
    return this.#positions.get(`record ${key}`);
  }

  /** Position of the entry with this hash. */
  indexOfHash(hash: string): number | undefined {
    return this.#positions.get(`hash ${hash}`);
  }

  /** Positions of a task's newest entries, oldest first. */
  indexesOfTask(taskId: string, most: number): number[] {
    const found: number[] = [];
    let next = this.#positions.get(`task ${taskId}`);
    while (next !== undefined && found.length < most) {
      found.push(next);
      const earlier = this.#earlierOfTask.at(next);
      next = earlier === 0 ? undefined : earlier - 1;
    }
    return found.reverse();
  }

  /** The highest `issued_at` among the listings of one agent, capability and payment mode. */
  newestListing(offer: string): number | undefined {
    return this.#listings.get(offer);
  }

  /** What the swarm has said of a task, undefined when nothing. */
  consensusOf(taskId: string): TaskConsensus | undefined {
    return this.#consensus.get(taskId);
  }

  /** The review of a held proposal, undefined while it waits. */
  reviewOf(heldId: string): SettledReview | undefined {
    return this.#reviews.get(heldId);
  }

  /** Number of reviews. */
  get reviews(): number {
    return this.#reviews.size;
  }

  /** Releases behind which nothing was settled yet: hash of the review → id of what it releases. */
  get unfinishedReleases(): ReadonlyMap<string, string> {
    return this.#unfinishedReleases;
  }

  /** Position of the entry that a release became, by the hash of its review. */
  releaseOf(review: string): number | undefined {
    return this.#releases.get(review);
  }

  /**
   * The slice of the shared state that a task needs (swarm.at §6.2): the keys asked for, and `core_logic`. The shared
   * state is every settled `data_update` laid over the ones before it, by top-level key, and over all of them the
   * institutional rules, which no agent can overwrite.
   */
  contextSlice(keywords: readonly string[], rules: PyObject = {}): PyObject {
    const slice: PyObject = {};
    for (const name of new Set([...keywords, "core_logic"])) {
      const value = Object.hasOwn(rules, name) ? rules[name] : this.#state.get(name);
      if (value !== undefined) setOwn(slice, name, value);
    }
    return slice;
  }

  #addRecord({ payload, taskId, currentHash }: LedgerEntry, body: PyObject, index: number): void {
    const { type, signer } = payload;
    const key = `record ${recordKey({ type, signer, body }, () => taskId)}`;
    if (this.#positions.get(key) === undefined) this.#positions.set(key, index);
    if (type === "listing") this.#addListing(body);
    else if (type === "review") this.#addReview(body, currentHash, index);
    else if (isConsensusType(type)) {
      const task = String(body.task_id);
      const consensus = this.#consensus.get(task) ?? new TaskConsensus();
      consensus.apply({ type, proposal: String(body.proposal), signer: signer as Address, index });
      this.#consensus.set(task, consensus);
    }
  }

  #addSettlement({ review }: PyObject, dataUpdate: PyObject, index: number): void {
    for (const [name, value] of Object.entries(dataUpdate)) this.#state.set(name, value);
    if (typeof review !== "string") return;
    this.#unfinishedReleases.delete(review);
    this.#releases.set(review, index);
  }

  #addListing(body: PyObject): void {
    const offer = offerKey(body);
    const issuedAt = typeof body.issued_at === "bigint" ? Number(body.issued_at) : 0;
    this.#listings.set(offer, Math.max(issuedAt, this.#listings.get(offer) ?? 0));
  }

  #addReview({ proposal, decision }: PyObject, hash: string, index: number): void {
    const id = String(proposal);
    if (this.#reviews.has(id)) return;
    this.#reviews.set(id, { decision: String(decision), hash, index });
    if (decision === "release") this.#unfinishedReleases.set(hash, id);
  }
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
