import { hash, randomBytes } from "node:crypto";

const PARTS = 256;

/** Three words a slot: the fingerprint in two, and the position plus one; 0 where the slot is free. */
type Part = { slots: Uint32Array; used: number };

/**
 * A map from texts to positions that keeps no text: 12 bytes for what a `Map` takes over a hundred, so that a ledger of
 * a million entries is looked up in memory.
 *
 * It keeps 64 bits of a hash that is salted anew in every process: an answer is almost surely right, nobody can make it
 * wrong on purpose, and whoever acts on it reads the entry there and compares.
 */
export class FingerprintTable {
  readonly #salt = randomBytes(16).toString("latin1");
  /** Many small tables, so that only one at a time is copied when it grows. */
  readonly #parts: Part[] = Array.from({ length: PARTS }, () => ({
    slots: new Uint32Array(3 * 16),
    used: 0,
  }));

  /** The position kept for a text, undefined when there is none. */
  get(text: string): number | undefined {
    const [high, low] = this.#fingerprint(text);
    const { slots } = this.#partOf(high);
    const stored = slots[slotOf(slots, high, low) + 2] as number;
    return stored === 0 ? undefined : stored - 1;
  }

  /** Keeps a position (below 2^32 - 1) for a text, in place of an earlier one. */
  set(text: string, position: number): void {
    const [high, low] = this.#fingerprint(text);
    const part = this.#partOf(high);
    const { slots } = part;
    const at = slotOf(slots, high, low);
    if (slots[at + 2] === 0) part.used++;
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + 2] = position + 1;
    // Fuller than this, free slots get rare and the walks to them long.
    if (part.used * 3 * 4 > slots.length * 3) part.slots = grown(slots);
  }

  #fingerprint(text: string): [high: number, low: number] {
    // As text of one character a byte: a Buffer each would be a burden on the collector.
    const digest = hash("sha256", this.#salt + text, "binary");
    return [wordAt(digest, 0), wordAt(digest, 4)];
  }

  #partOf(high: number): Part {
    return this.#parts[high % PARTS] as Part;
  }
}

function wordAt(bytes: string, at: number): number {
  const word =
    bytes.charCodeAt(at) |
    (bytes.charCodeAt(at + 1) << 8) |
    (bytes.charCodeAt(at + 2) << 16) |
    (bytes.charCodeAt(at + 3) << 24);
  return word >>> 0;
}

/** The first word of the slot that has this fingerprint, or of the free one where it would go. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const count = slots.length / 3;
  let slot = low & (count - 1);
  while (slots[3 * slot + 2] !== 0) {
    if (slots[3 * slot] === high && slots[3 * slot + 1] === low) break;
    slot = (slot + 1) & (count - 1);
  }
  return 3 * slot;
}

function grown(before: Uint32Array): Uint32Array {
  const slots = new Uint32Array(before.length * 2);
  for (let at = 0; at < before.length; at += 3) {
    if (before[at + 2] === 0) continue;
    const to = slotOf(slots, before[at] as number, before[at + 1] as number);
    slots.set(before.subarray(at, at + 3), to);
  }
  return slots;
}
