import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { dumpsPythonJson, type PyJson } from "../../protocol/json/pythonJson.ts";
import type { LedgerEntry } from "../../protocol/ledger/entry.ts";

type PyObject = { [key: string]: PyJson };

/**
 * What the engine looks up in the ledger without reading it: which records it has, where a task's entries stand, the
 * shared state, the newest listings. All of it comes from the entries alone and is built again at every start.
 */
export class LedgerIndex {
  readonly #records = new Map<string, number>();
  readonly #tasks = new Map<string, number | number[]>();
  readonly #state = new Map<string, PyJson>();
  readonly #listings = new Map<string, number>();

  /** Takes in an entry that is on disk. */
  add(entry: LedgerEntry, index: number): void {
    const { payload, taskId } = entry;
    const before = this.#tasks.get(taskId);
    if (before === undefined) this.#tasks.set(taskId, index);
    else if (typeof before === "number") this.#tasks.set(taskId, [before, index]);
    else before.push(index);

    if (isObject(payload.body)) {
      const key = recordKey(payload);
      if (!this.#records.has(key)) this.#records.set(key, index);
      if (payload.type === "listing") this.#addListing(payload.body);
    } else if (isObject(payload.data_update)) {
      for (const [name, value] of Object.entries(payload.data_update)) this.#state.set(name, value);
    }
  }

  /** Position of the first entry with this record (same type, signer and body, whatever the signature). */
  indexOfRecord(key: string): number | undefined {
    return this.#records.get(key);
  }

  /** Positions of a task's entries, oldest first. */
  indexesOfTask(taskId: string): readonly number[] {
    const found = this.#tasks.get(taskId);
    return typeof found === "number" ? [found] : (found ?? []);
  }

  /** The highest `issued_at` among the listings of one agent, capability and payment mode. */
  newestListing(offer: string): number | undefined {
    return this.#listings.get(offer);
  }

  /**
   * The slice of the shared state that a task needs (swarm.at §6.2): the keys asked for, and `core_logic`. The shared
   * state is every settled `data_update` laid over the ones before it, by top-level key.
   */
  contextSlice(keywords: readonly string[]): PyObject {
    const slice: PyObject = {};
    for (const name of new Set([...keywords, "core_logic"])) {
      const value = this.#state.get(name);
      if (value !== undefined) setOwn(slice, name, value);
    }
    return slice;
  }

  #addListing(body: PyObject): void {
    const offer = offerKey(body);
    const issuedAt = typeof body.issued_at === "bigint" ? Number(body.issued_at) : 0;
    this.#listings.set(offer, Math.max(issuedAt, this.#listings.get(offer) ?? 0));
  }
}

/** Sets an own property even when its name is `__proto__`. */
function setOwn(target: PyObject, name: string, value: PyJson): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** What makes a record the same one: type, signer and body. A second signature over it makes no second record. */
export function recordKey({ type, signer, body }: PyObject): string {
  const bytes = sha256(utf8ToBytes(dumpsPythonJson([type ?? null, signer ?? null, body ?? null])));
  return Buffer.from(bytes).toString("latin1");
}

/** What makes listings offers of the same thing: agent, capability and payment mode. */
export function offerKey(body: { [key: string]: unknown }): string {
  return [body.agent_id, body.capability, body.payment_mode ?? "direct"].join(" ");
}
