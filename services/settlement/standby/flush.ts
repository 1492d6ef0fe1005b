import { createHmac, timingSafeEqual } from "node:crypto";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";

/**
 * Entries that are written together: the positions [first, next), the hash before the first entry, the hash
 * of the last entry, and the canonical lines, each with its newline.
 */
export type Flush = { first: number; next: number; parent: string; head: string; lines: string };

/** Most bytes of the lines of one flush, unless its first entry alone has more. */
export const MAX_FLUSH_BYTES = 4 << 20;

/** The place of an entry's hash in its canonical line. */
const HASH_AT = '{"current_hash": "'.length;

/** Makes a flush of canonical lines that follow a position. */
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

/** The hash of the entry with the canonical line at an offset. */
export function hashIn(lines: string, start: number): string {
  return lines.slice(start + HASH_AT, start + HASH_AT + 64);
}

/**
 * The seal on a flush (HMAC-SHA256). The hash of its last entry depends on every line. So somebody who can
 * write into the database but does not have the key can stop a ledger, but cannot write into it.
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

/** Whether two seals are equal, compared in constant time. */
export function isSeal(expected: string, found: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function seal(key: Uint8Array, parts: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("hex");
}
