import { hash, randomBytes } from "node:crypto";

/**
 * A map from texts to positions that keeps no text: 12 bytes for what a `Map` takes over a hundred, so that a ledger of
 * a million entries is looked up in memory.
 *
 * It keeps 64 bits of a hash that is salted anew in every process: an answer is almost surely right, nobody can make it
 * wrong on purpose, and whoever acts on it reads the entry there and compares.
 */
export class FingerprintTable {
  readonly #salt = randomBytes(16).toString("latin1");
  /** Three words a slot: the fingerprint in two, and the position plus one; 0 where the slot is free. */
  #slots = new Uint32Array(3 * 1024);
  #used = 0;

  /** The position kept for a text, undefined when there is none. */
  get(text: string): number | undefined {
    const at = this.#slotOf(...this.#fingerprint(text));
    const stored = this.#slots[at + 2] as number;
    return stored === 0 ? undefined : stored - 1;
  }

  /** Keeps a position (below 2^32 - 1) for a text, in place of an earlier one. */
  set(text: string, position: number): void {
    const [high, low] = this.#fingerprint(text);
    const at = this.#slotOf(high, low);
    if (this.#slots[at + 2] === 0) this.#used++;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#slots[at + 2] = position + 1;
    // Fuller than this, free slots get rare and the walks to them long.
    if (this.#used * 3 * 4 > this.#slots.length * 3) this.#grow();
  }

  #fingerprint(text: string): [number, number] {
    const digest = hash("sha256", this.#salt + text, "buffer");
    return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  }

  /** The first word of the slot that has this fingerprint, or of the free one where it would go. */
  #slotOf(high: number, low: number, slots = this.#slots): number {
    const count = slots.length / 3;
    let slot = low & (count - 1);
    while (slots[3 * slot + 2] !== 0) {
      if (slots[3 * slot] === high && slots[3 * slot + 1] === low) break;
      slot = (slot + 1) & (count - 1);
    }
    return 3 * slot;
  }

  #grow(): void {
    const before = this.#slots;
    const grown = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 3) {
      if (before[at + 2] === 0) continue;
      const to = this.#slotOf(before[at] as number, before[at + 1] as number, grown);
      grown.set(before.subarray(at, at + 3), to);
    }
    this.#slots = grown;
  }
}
