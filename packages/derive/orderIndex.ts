import { append, firstItemsOf } from "./lists.ts";
import type { Store } from "./store.ts";

/**
 * An index of members in order of a number (seconds, blocks). A bitmap says which numbers of a page of 256 numbers have
 * members. Another bitmap says which pages of a book of 256 pages have members. So the nearest lower or higher member
 * is found with a few look-ups, even among very many members. A row for each pair says that this member has this
 * number. Several members may share a number: they are in the order in which they came. One member may have several
 * numbers.
 */
const PAGE = 256;
const BOOK = 65_536;

export type Entry = { at: number; member: string };

/** Adds a member; false if it had this number before. */
export function addEntry(store: Store, index: string, { at, member }: Entry): boolean {
  // Thousands of members may share a number, because all agents of one ledger segment are registered in one
  // block.
  const place = `${index}/${at}/has/${member}`;
  if (store.get("orderIndex", place) !== null) return false;
  store.insert("orderIndex", { id: place, value: "" });
  append(store, `${index}/${at}`, member);
  setBit(store, pageId(index, Math.floor(at / PAGE)), at % PAGE);
  setBit(store, bookId(index, Math.floor(at / BOOK)), Math.floor(at / PAGE) % PAGE);
  return true;
}

/** Entries from `at` down to `until`, both included, highest first. */
export function* entriesDown(store: Store, index: string, at: number, until: number): Generator<Entry> {
  let next = lastAtOrBelow(store, index, at, until);
  while (next !== null) {
    for (const member of membersAt(store, index, next)) yield { at: next, member };
    next = lastAtOrBelow(store, index, next - 1, until);
  }
}

/** Entries from `at` up to `until`, both included, lowest first. */
export function* entriesUp(store: Store, index: string, at: number, until: number): Generator<Entry> {
  for (const number of numbersUp(store, index, at, until))
    for (const member of membersAt(store, index, number)) yield { at: number, member };
}

/** The numbers that have members, from `at` up to `until`, both included, lowest first. */
export function* numbersUp(store: Store, index: string, at: number, until: number): Generator<number> {
  let next = firstAtOrAbove(store, index, at, until);
  while (next !== null) {
    yield next;
    next = firstAtOrAbove(store, index, next + 1, until);
  }
}

function membersAt(store: Store, index: string, at: number): Generator<string> {
  return firstItemsOf(store, `${index}/${at}`);
}

function lastAtOrBelow(store: Store, index: string, at: number, until: number): number | null {
  if (at < until || at < 0) return null;
  const page = Math.floor(at / PAGE);
  const here = highestBit(bitmap(store, pageId(index, page)), at % PAGE);
  if (here !== null) return within(page * PAGE + here, until, at);
  const book = Math.floor(at / BOOK);
  for (let b = book; b >= Math.max(0, Math.floor(until / BOOK)); b--) {
    // The page of `at` is done. In its book, only the lower pages remain.
    const found = highestBit(bitmap(store, bookId(index, b)), b === book ? (page % PAGE) - 1 : PAGE - 1);
    if (found === null) continue;
    const bit = highestBit(bitmap(store, pageId(index, b * PAGE + found)), PAGE - 1);
    return within((b * PAGE + found) * PAGE + (bit ?? 0), until, at);
  }
  return null;
}

function firstAtOrAbove(store: Store, index: string, at: number, until: number): number | null {
  if (at > until) return null;
  const page = Math.floor(at / PAGE);
  const here = lowestBit(bitmap(store, pageId(index, page)), at % PAGE);
  if (here !== null) return within(page * PAGE + here, at, until);
  const book = Math.floor(at / BOOK);
  for (let b = book; b <= Math.floor(until / BOOK); b++) {
    const found = lowestBit(bitmap(store, bookId(index, b)), b === book ? (page % PAGE) + 1 : 0);
    if (found === null) continue;
    const bit = lowestBit(bitmap(store, pageId(index, b * PAGE + found)), 0);
    return within((b * PAGE + found) * PAGE + (bit ?? 0), at, until);
  }
  return null;
}

function within(at: number, from: number, to: number): number | null {
  return at >= from && at <= to ? at : null;
}

function pageId(index: string, page: number): string {
  return `${index}/page/${page}`;
}

function bookId(index: string, book: number): string {
  return `${index}/book/${book}`;
}

function bitmap(store: Store, id: string): bigint {
  const row = store.get("orderIndex", id);
  return row === null ? 0n : BigInt(`0x${row.value}`);
}

function setBit(store: Store, id: string, bit: number): void {
  const row = store.get("orderIndex", id);
  const text = ((row === null ? 0n : BigInt(`0x${row.value}`)) | (1n << BigInt(bit))).toString(16);
  if (row === null) store.insert("orderIndex", { id, value: text });
  else if (row.value !== text) store.update("orderIndex", id, { value: text });
}

/** The highest bit set at or below `limit`, or null. */
function highestBit(bits: bigint, limit: number): number | null {
  const low = bits & ((1n << BigInt(limit + 1)) - 1n);
  return low === 0n ? null : low.toString(2).length - 1;
}

/** The lowest bit set at or above `limit`, or null. */
function lowestBit(bits: bigint, limit: number): number | null {
  const high = (bits >> BigInt(limit)) << BigInt(limit);
  return high === 0n ? null : (high & -high).toString(2).length - 1;
}
