import { append, itemsOf } from "../lists.ts";
import type { Store } from "../store.ts";

/**
 * Fundings of one funder in order of time, without scanning: a bitmap says which seconds of a 256-second page hold any,
 * another which pages of a 65,536-second book do. Finding the nearest earlier or later one costs a few look-ups, however
 * many recipients the funder has.
 */
const PAGE = 256;
const BOOK = 65_536;

/** Notes that `funder` funded `agent` at `time`; false if it was noted before. */
export async function addFunding(
  store: Store,
  funder: string,
  time: number,
  agent: string,
): Promise<boolean> {
  for await (const known of agentsAt(store, funder, time)) if (known === agent) return false;
  await append(store, `funded/${funder}/${time}`, agent);
  await setBit(store, pageId(funder, Math.floor(time / PAGE)), time % PAGE);
  await setBit(store, bookId(funder, Math.floor(time / BOOK)), Math.floor(time / PAGE) % PAGE);
  return true;
}

export type Funding = { time: number; agent: string };

/** Fundings from `time` down to `until`, latest first; those at `time` included. */
export async function* fundingsBefore(
  store: Store,
  funder: string,
  time: number,
  until: number,
): AsyncGenerator<Funding> {
  let at = await lastAtOrBefore(store, funder, time, until);
  while (at !== null) {
    for await (const agent of agentsAt(store, funder, at)) yield { time: at, agent };
    at = await lastAtOrBefore(store, funder, at - 1, until);
  }
}

/** Fundings after `time` up to `until`, earliest first. */
export async function* fundingsAfter(
  store: Store,
  funder: string,
  time: number,
  until: number,
): AsyncGenerator<Funding> {
  let at = await firstAtOrAfter(store, funder, time + 1, until);
  while (at !== null) {
    for await (const agent of agentsAt(store, funder, at)) yield { time: at, agent };
    at = await firstAtOrAfter(store, funder, at + 1, until);
  }
}

function agentsAt(store: Store, funder: string, time: number): AsyncGenerator<string> {
  return itemsOf(store, `funded/${funder}/${time}`);
}

async function lastAtOrBefore(store: Store, funder: string, time: number, until: number) {
  if (time < until) return null;
  const page = Math.floor(time / PAGE);
  const here = highestBit(await bitmap(store, pageId(funder, page)), time % PAGE);
  if (here !== null) return within(page * PAGE + here, until, time);
  for (let book = Math.floor(time / BOOK); book >= Math.floor(until / BOOK); book--) {
    // In the book that `time` stands in, only pages before its own are left.
    const limit = book === Math.floor(time / BOOK) ? (page % PAGE) - 1 : PAGE - 1;
    const found = highestBit(await bitmap(store, bookId(funder, book)), limit);
    if (found === null) continue;
    const second = highestBit(await bitmap(store, pageId(funder, book * PAGE + found)), PAGE - 1);
    return within((book * PAGE + found) * PAGE + (second ?? 0), until, time);
  }
  return null;
}

async function firstAtOrAfter(store: Store, funder: string, time: number, until: number) {
  if (time > until) return null;
  const page = Math.floor(time / PAGE);
  const here = lowestBit(await bitmap(store, pageId(funder, page)), time % PAGE);
  if (here !== null) return within(page * PAGE + here, time, until);
  for (let book = Math.floor(time / BOOK); book <= Math.floor(until / BOOK); book++) {
    const limit = book === Math.floor(time / BOOK) ? (page % PAGE) + 1 : 0;
    const found = lowestBit(await bitmap(store, bookId(funder, book)), limit);
    if (found === null) continue;
    const second = lowestBit(await bitmap(store, pageId(funder, book * PAGE + found)), 0);
    return within((book * PAGE + found) * PAGE + (second ?? 0), time, until);
  }
  return null;
}

function within(time: number, from: number, to: number): number | null {
  return time >= from && time <= to ? time : null;
}

function pageId(funder: string, page: number): string {
  return `${funder}/page/${page}`;
}

function bookId(funder: string, book: number): string {
  return `${funder}/book/${book}`;
}

async function bitmap(store: Store, id: string): Promise<bigint> {
  const row = await store.get("fundingIndex", id);
  return row === null ? 0n : BigInt(`0x${row.bitmap}`);
}

async function setBit(store: Store, id: string, bit: number): Promise<void> {
  const row = await store.get("fundingIndex", id);
  const bits = (row === null ? 0n : BigInt(`0x${row.bitmap}`)) | (1n << BigInt(bit));
  const text = bits.toString(16);
  if (row === null) await store.insert("fundingIndex", { id, bitmap: text });
  else if (row.bitmap !== text) await store.update("fundingIndex", id, { bitmap: text });
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
