import { createHmac, timingSafeEqual } from "node:crypto";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";

/**
 * Entries that go into a ledger together: the positions [first, next), the hash before the first entry and that of the last,
 * and their canonical lines, each with its newline.
 */
export type Flush = { first: number; next: number; parent: string; head: string; lines: string };

/** Most bytes of the lines of one flush, unless its first entry alone has more. */
export const MAX_FLUSH_BYTES = 4 << 20;

/** Where the hash of an entry is in its canonical line. */
const HASH_AT = '{"current_hash": "'.length;

/** Canonical lines as the flush that follows a position. */
export function flushAfter(position: Pick<Flush, "next" | "head">, lines: string): Flush {
  let count = 0;
  for (let at = lines.indexOf("\n"); at !== -1; at = lines.indexOf("\n", at + 1)) count++;
  const last = lines.lastIndexOf("\n", lines.length - 2) + 1;
  return {
    first: position.next,
    next: position.next + count,
    parent: position.head,
    head: hashIn(lines, last),
    lines,
  };
}

/** The hash of the entry whose canonical line begins there. */
export function hashIn(lines: string, start: number): string {
  return lines.slice(start + HASH_AT, start + HASH_AT + 64);
}

/**
 * The seal on a flush (HMAC-SHA256). Its head contains every line by the chain of hashes. So whoever can write into the
 * database, and does not have the key, can stop a ledger and not write into it.
 *
 * @param key 32 bytes that the ledger's machines share
 */
export function sealFlush(key: Uint8Array, ledger: LedgerName, flush: Omit<Flush, "lines">): string {
  const { first, next, parent, head } = flush;
  return seal(key, ["flush", ledger, String(first), String(next), parent, head]);
}

/** The seal on a line of the held proposals. */
export function sealHeld(key: Uint8Array, ledger: LedgerName, line: string): string {
  return seal(key, ["held", ledger, line]);
}

/** Whether two seals are the same, in a time that says nothing about them. */
export function isSeal(expected: string, found: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function seal(key: Uint8Array, parts: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("hex");
}
