import type { TransferEvent } from "tallystick-derive/events";
import { isBefore, type Place } from "tallystick-derive/place";
import type { Address } from "tallystick-protocol/address";
import type { Params } from "tallystick-protocol/records/params";
import { byPlace } from "../logPort/checkLogs.ts";
import { TooManyLogsError } from "../logPort/errors.ts";
import type { BlockRange, TokenTransfer } from "../logPort/logPort.ts";
import { type ChainView, END, isBetween, transferEvent } from "./chainView.ts";
import { MOST_LOOKED, possibleFunders, possibleFunding, type Rules } from "./possibleFunders.ts";
import { authorizes } from "./readPast.ts";
import { MOST_BESIDE, MOST_WALLETS, readPaths } from "./readPaths.ts";
import type { Receiver } from "./receiversOf.ts";

/** The most blocks that are read in advance: one request of an RPC. The first chunk has fewer. */
const CHUNK = 10_000;
const FIRST_CHUNK = 1_250;

/**
 * After a chunk with more transfers than this, the next chunk has half as many blocks. After a chunk with fewer, it
 * has twice as many.
 */
const MANY_TRANSFERS = 50_000;

/** The number of block times in one request. */
const TIMES = 500;

/** The most transfers that are applied together, so that their common changes are written once. */
const TOGETHER = 200;

/**
 * The next funding paths are read in the background only if the last ones had fewer transfers than this. What is read in
 * advance must not take the place of what is needed before it.
 */
const MOST_BEFORE = 100_000;

/** The wallets whose transfers are applied. */
export type Watched = {
  /** All watched wallets, in the order in which they were added. */
  list: () => Promise<readonly Address[]>;
  /** What the rows tell about some of them as receivers, with all transfers that are applied. */
  receivers: (wallets: readonly Address[]) => Promise<ReadonlyMap<Address, Receiver>>;
};

/** The authorizations of some senders in a part of a chunk. */
type Authorized = BlockRange & { senders: Set<Address>; used: Set<string> };

/** The transfers to some wallets in a range of final blocks. */
type Chunk = BlockRange & {
  wallets: Set<Address>;
  transfers: TokenTransfer[];
  authorized: Authorized | null;
  /** Up to this transfer, funding paths were read in advance. */
  pathsUntil: Place | null;
};

/** The next senders whose past may be needed, and the last transfer that was looked at for them. */
type Senders = { wallets: Set<Address>; until: Place };

/**
 * Funding paths that are being read in the background, for the transfers of a chunk up to a place. `before` is the number of
 * transfers that had been read until then.
 */
type Begun = { chunk: Chunk; until: Place; before: number; isDone: Promise<boolean> };

/** The transfers to watched wallets, in the order of the chain. In final blocks they are read in advance. */
export class TransfersAhead {
  readonly #senders: number;
  #chunk: Chunk | null = null;
  #begun: Begun | null = null;
  #blocks = FIRST_CHUNK;
  /** The blocks of the next part whose authorizations are read together. */
  #authorizedBlocks = CHUNK;

  /** @param senders the most senders whose past is requested together */
  constructor({ senders = MOST_WALLETS }: { senders?: number } = {}) {
    this.#senders = senders;
  }

  /**
   * Applies all transfers to watched wallets between two places, neither included. Each transfer may add
   * watched wallets, from its place on.
   *
   * @param until a place of the view's head
   * @param apply applies transfers one after the other, and stops after one that adds watched wallets. Returns how
   * many it applied
   */
  async bringIn(view: ChainView, { after, until, watched, params, apply }: Bringing): Promise<void> {
    let place = after;
    const last = Math.min(view.final, until.block);
    while (place.block < last || (place.block === last && place.log < END)) {
      const wallets = await watched.list();
      // Without a transfer no new wallet becomes watched.
      if (wallets.length === 0) break;
      const chunk = await this.#cover(view, wallets, place.log < END ? place.block : place.block + 1);
      const next = await this.#nextOf(view, chunk, place);
      if (next === null) {
        if (chunk.to >= last) break;
        place = { block: chunk.to, log: END };
        continue;
      }
      if (!isBetween(chunk.transfers[next] as TokenTransfer, place, until)) break;
      await this.#readPathsFrom(view, chunk, next, { until, watched, params });
      const some = timedFrom(chunk, next).filter((it) => isBetween(it, place, until));
      place = await applySome(view, some, apply);
    }
    await this.#readRecentPaths(view, { after: place, until }, { watched, params });
    for (const { transfers, block, time } of view.recent) {
      if (block < place.block || block > until.block) continue;
      for (;;) {
        const wallets = new Set<string>(await watched.list());
        const some = transfers.filter((it) => wallets.has(it.to) && isBetween(it, place, until));
        if (some.length === 0) break;
        const timed = some.slice(0, TOGETHER).map((it) => ({ ...it, time }));
        place = await applySome(view, timed, apply);
      }
    }
  }

  /** Whether a transfer that is being applied is authorized. */
  async isAuthorized(view: ChainView, transfer: TransferEvent): Promise<boolean> {
    const { block, log, from, tx } = transfer;
    const recent = view.recent.find((it) => it.block === block);
    if (recent !== undefined) return authorizes(recent.authorizations, transfer);
    const key = `${block}/${log - 1}/${from}/${tx}`;
    const chunk = this.#chunk;
    if (chunk === null || block < chunk.from || block > chunk.to) {
      const range = { from: block, to: block };
      return (await view.transfers.authorizations([from], range, view.retryRead)).has(key);
    }
    return (await this.#authorizedIn(view, chunk, { block, from })).has(key);
  }

  /**
   * The authorizations in a part of the chunk, those of this sender in this block included. Anybody can use very many in few
   * blocks. So after too many of them the part has half as many blocks, and the next part has twice as many again.
   */
  async #authorizedIn(
    view: ChainView,
    chunk: Chunk,
    { block, from }: Pick<TransferEvent, "block" | "from">,
  ): Promise<ReadonlySet<string>> {
    let part = chunk.authorized;
    if (part === null || block < part.from || block > part.to) {
      if (part !== null) this.#authorizedBlocks = Math.min(CHUNK, this.#authorizedBlocks * 2);
      part = this.#partFrom(chunk, block);
    }
    while (!part.senders.has(from)) {
      const { to, senders } = part;
      const own = chunk.transfers.filter((it) => it.block >= block && it.block <= to);
      const fresh = [...new Set([from, ...own.map((it) => it.from)])].filter((it) => !senders.has(it));
      try {
        for (const it of await view.transfers.authorizations(fresh, part, view.retryRead)) part.used.add(it);
        for (const it of fresh) senders.add(it);
      } catch (error) {
        if (!(error instanceof TooManyLogsError) || part.from === part.to) throw error;
        this.#authorizedBlocks = (part.to - part.from + 1) >> 1;
        part = this.#partFrom(chunk, block);
      }
    }
    chunk.authorized = part;
    return part.used;
  }

  #partFrom({ to }: Chunk, block: number): Authorized {
    return {
      from: block,
      to: Math.min(to, block + this.#authorizedBlocks - 1),
      senders: new Set(),
      used: new Set(),
    };
  }

  /** The chunk that contains a block, with the transfers to these wallets. */
  async #cover(view: ChainView, wallets: readonly Address[], block: number): Promise<Chunk> {
    let chunk = this.#chunk;
    if (chunk === null || block < chunk.from || block > chunk.to) {
      this.#resize(chunk);
      // The blocks up to the finalized head never change, even those after the head of this view.
      const to = Math.min(view.finalizedHead.block, block + this.#blocks - 1);
      chunk = {
        from: block,
        to,
        wallets: new Set(),
        transfers: [],
        authorized: null,
        pathsUntil: null,
      };
    }
    const missing =
      wallets.length === chunk.wallets.size ? [] : wallets.filter((it) => !chunk.wallets.has(it));
    if (missing.length > 0 && !(await addTransfers(view, chunk, missing))) {
      this.#chunk = null;
      this.#blocks = Math.max(1, (chunk.to - chunk.from + 1) >> 1);
      return this.#cover(view, wallets, block);
    }
    this.#chunk = chunk;
    return chunk;
  }

  #resize(last: Chunk | null): void {
    if (last === null) return;
    const isLarge = last.transfers.length > MANY_TRANSFERS;
    this.#blocks = isLarge ? Math.max(1, this.#blocks >> 1) : Math.min(CHUNK, this.#blocks * 2);
  }

  /**
   * Reads in advance the funding paths of the next transfers, so that their senders share requests. While these transfers are
   * applied, the paths of later ones are read in the background.
   */
  async #readPathsFrom(
    view: ChainView,
    chunk: Chunk,
    first: number,
    { until, watched, params }: Pick<Bringing, "until" | "watched" | "params">,
  ): Promise<void> {
    const { transfers, pathsUntil } = chunk;
    const next = transfers[first] as TokenTransfer;
    if (pathsUntil !== null && !isBefore(pathsUntil, next)) return;
    const rules: Rules = { params, isWatched: (it) => chunk.wallets.has(it) };
    const begun = this.#begun;
    const before = begun?.before ?? view.transfers.numberRead;
    // It waits even if that read is of no use now. Otherwise the same past may be requested twice.
    const isDone = await begun?.isDone;
    this.#begun = null;
    // A wallet that is watched since then may have transfers that were not looked at.
    const isCovered = begun?.chunk === chunk && pathsUntil !== null && !isBefore(begun.until, next);
    const some = transfers.slice(first, first + MOST_LOOKED);
    const looked = isDone && isCovered ? some.filter((it) => !isBefore(begun.until, it)) : some;
    const soon = looked === some ? some.filter((it) => isBefore(it, until)) : looked;
    chunk.pathsUntil = soon.at(-1) ?? next;
    if ((await possibleFunders(view, soon, rules, watched.receivers)).size > 0) {
      // Later senders share the requests, because their receiver may be a buyer by then.
      const senders = nextSenders(view, looked, rules, this.#senders);
      chunk.pathsUntil = senders.until;
      await readPaths(view, senders.wallets, params, rules.isWatched);
    } else if (looked === some) return;
    if (view.transfers.numberRead - before >= MOST_BEFORE) return;
    this.#begun = await this.#beginAfter(view, chunk, first, { rules, watched });
  }

  /**
   * Begins to read the funding paths of the transfers after those whose paths are known. Null if the derivation asks
   * for none of their senders. Null too if these senders are few: then they share the requests of later senders.
   *
   * @param first the index of the next transfer that is applied
   */
  async #beginAfter(
    view: ChainView,
    chunk: Chunk,
    first: number,
    { rules, watched }: { rules: Rules; watched: Watched },
  ): Promise<Begun | null> {
    const { transfers, pathsUntil } = chunk;
    if (pathsUntil === null) return null;
    const after = firstAfter(transfers, pathsUntil);
    const some = transfers.slice(after, after + MOST_LOOKED);
    if (some.length === 0) return null;
    const { wallets, until } = nextSenders(view, some, rules, this.#senders);
    if (wallets.size < this.#senders) return null;
    // Earlier transfers count too: after them, later money is a smaller part of what a wallet got.
    const all = transfers.slice(first, firstAfter(transfers, until));
    if ((await possibleFunders(view, all, rules, watched.receivers)).size === 0) return null;
    const before = view.transfers.numberRead;
    // An event may end the work of this view before the read is done. So a failed read is not repeated here, but where
    // its result is needed.
    const beside = { ...view, retryRead: view.readOnce };
    const reading = readPaths(beside, wallets, rules.params, rules.isWatched, MOST_BESIDE);
    const isDone = reading.then(
      () => true,
      () => false,
    );
    return { chunk, until, before, isDone };
  }

  async #readRecentPaths(
    view: ChainView,
    { after, until }: Pick<Bringing, "after" | "until">,
    { watched, params }: Pick<Bringing, "watched" | "params">,
  ): Promise<void> {
    const blocks = view.recent.filter(({ block }) => block >= after.block && block <= until.block);
    const recent = blocks.flatMap(({ transfers }) => transfers.filter((it) => isBetween(it, after, until)));
    if (recent.length === 0) return;
    const wallets = new Set(await watched.list());
    const own = recent.filter(({ to }) => wallets.has(to)).slice(0, MOST_LOOKED);
    const rules: Rules = { params, isWatched: (it) => wallets.has(it) };
    const funders = await possibleFunders(view, own, rules, watched.receivers);
    await readPaths(view, funders, params, rules.isWatched);
  }

  /**
   * The index of the first transfer after a place; null when the chunk has none. The time of that transfer is known
   * afterwards.
   */
  async #nextOf(view: ChainView, { transfers }: Chunk, after: Place): Promise<number | null> {
    const at = firstAfter(transfers, after);
    const next = transfers[at];
    if (next === undefined) return null;
    if (next.time === null) {
      const timed = await view.transfers.withTimes(transfers.slice(at, at + TIMES), view.retryRead);
      transfers.splice(at, timed.length, ...timed);
    }
    return at;
  }
}

/** The next senders whose past may be needed, as many as share one request. */
function nextSenders(
  view: ChainView,
  transfers: readonly TokenTransfer[],
  rules: Rules,
  most: number,
): Senders {
  const isPossible = possibleFunding(view, rules);
  const wallets = new Set<Address>();
  for (const it of transfers) {
    if (isPossible(it) && wallets.add(it.from).size === most) return { wallets, until: it };
  }
  return { wallets, until: transfers.at(-1) as TokenTransfer };
}

type Timed = TokenTransfer & { time: number };

/**
 * The next transfers of a chunk that can be applied together: their times are known, and their funding paths were read in
 * advance.
 */
function timedFrom({ transfers, pathsUntil }: Chunk, at: number): Timed[] {
  const some = transfers.slice(at, at + TOGETHER);
  const end = some.findIndex(
    (it, n) => n > 0 && (it.time === null || (pathsUntil !== null && isBefore(pathsUntil, it))),
  );
  return (end < 0 ? some : some.slice(0, end)) as Timed[];
}

/** Applies at least the first of some transfers, and returns the place of the last one that is applied. */
async function applySome(
  { token }: ChainView,
  transfers: readonly Timed[],
  apply: Bringing["apply"],
): Promise<Place> {
  const applied = await apply(transfers.map((it) => transferEvent(it, token)));
  return transfers[Math.max(1, applied) - 1] as Timed;
}

/**
 * Adds the transfers to more wallets to a chunk.
 *
 * @returns false if one wallet has too many of them for one call; then nothing is added
 */
async function addTransfers(view: ChainView, chunk: Chunk, wallets: readonly Address[]): Promise<boolean> {
  const { from, to, transfers } = chunk;
  try {
    const read = await view.transfers.to(wallets, { from, to }, Number.POSITIVE_INFINITY, view.retryRead);
    chunk.transfers = [...transfers, ...read].sort(byPlace);
    for (const it of wallets) chunk.wallets.add(it);
    if (read.length > 0) chunk.pathsUntil = null;
    return true;
  } catch (error) {
    if (error instanceof TooManyLogsError && from < to) return false;
    throw error;
  }
}

export type Bringing = {
  after: Place;
  until: Place;
  watched: Watched;
  params: Params;
  apply: (transfers: readonly TransferEvent[]) => Promise<number>;
};

/** The index of the first log after a place, among logs in order. */
function firstAfter(logs: readonly Place[], after: Place): number {
  let [low, high] = [0, logs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { block, log } = logs[middle] as Place;
    if (block < after.block || (block === after.block && log <= after.log)) low = middle + 1;
    else high = middle;
  }
  return low;
}
