import type { DrawnMoments } from "./drawnMoments.ts";
import { SLOT_SECONDS } from "./slots.ts";

/** The visits of one slot, each at its drawn moment. */
export class SlotPlan {
  readonly #moments: Pick<DrawnMoments, "secondOf">;
  #slot = -1;
  #visits: { at: number; key: string }[] = [];
  #next = 0;
  /**
   * Hosts whose visit in this slot has begun, even if their request is still waiting, and hosts that need no visit in
   * this slot. A host whose time comes while the uplink is lost is not among them.
   */
  readonly #begun = new Set<string>();

  constructor(moments: Pick<DrawnMoments, "secondOf">) {
    this.#moments = moments;
  }

  /** The slot; -1 if none has begun. */
  get slot(): number {
    return this.#slot;
  }

  /** Begins a slot, without any visits; -1: ends the slot. */
  begin(slot: number): void {
    this.#slot = slot;
    this.#visits = [];
    this.#next = 0;
    this.#begun.clear();
  }

  /** Plans the visits of these hosts, except those that have begun. */
  draw(keys: Iterable<string>): void {
    const visits = [];
    for (const key of keys) {
      if (this.#begun.has(key)) continue;
      visits.push({ key, at: this.#slot * SLOT_SECONDS + this.#moments.secondOf(this.#slot, key) });
    }
    this.#visits = visits.sort((a, b) => a.at - b.at);
    this.#next = 0;
  }

  /** The hosts whose moments have come, each once. */
  *due(now: () => number): Generator<string> {
    for (
      let due = this.#visits[this.#next];
      due !== undefined && due.at <= now();
      due = this.#visits[this.#next]
    ) {
      this.#next++;
      yield due.key;
    }
  }

  noteBegun(key: string): void {
    this.#begun.add(key);
  }
}
