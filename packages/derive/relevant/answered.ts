import { paymentKey } from "../payments.ts";
import { isBefore, type Place } from "../place.ts";
import type { Read } from "./reads.ts";

/** Knows which reads of one event were answered already. */
export class Answered {
  /** Up to which place the transfers on one side of a wallet (in or out) were read. */
  readonly #until = new Map<string, Place>();
  readonly #others = new Set<string>();

  has(read: Read): boolean {
    const side = sideOf(read);
    if (side === null) return this.#others.has(otherOf(read));
    const until = this.#until.get(side.id);
    return until !== undefined && !isBefore(until, side.before);
  }

  add(read: Read): void {
    const side = sideOf(read);
    if (side === null) this.#others.add(otherOf(read));
    else if (!this.has(read)) this.#until.set(side.id, side.before);
  }
}

/** The same reads without repetition: for one side of a wallet, only the read that goes farthest. */
export function eachOnce(reads: readonly Read[]): Read[] {
  const once = new Map<string, Read>();
  for (const read of reads) {
    const side = sideOf(read);
    const id = side?.id ?? otherOf(read);
    const known = sideOf(once.get(id) ?? read);
    if (side === null || known === null || !isBefore(side.before, known.before)) once.set(id, read);
  }
  return [...once.values()];
}

function sideOf(read: Read): { id: string; before: Place } | null {
  if (read.kind === "transfersTo") return { id: `to ${read.wallet}`, before: read.before };
  if (read.kind === "firstSpent") return { id: `spent ${read.wallet}`, before: read.before };
  if (read.kind !== "transfersFrom") return null;
  return { id: `from ${read.wallet} ${read.limit}`, before: read.before };
}

function otherOf(read: Read): string {
  return read.kind === "payments" ? paymentKey(read.tx, read.from, read.to, read.value) : read.kind;
}
