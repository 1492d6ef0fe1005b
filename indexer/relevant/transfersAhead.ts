import type { TransferEvent } from "tallystick-derive/events";
import type { Place } from "tallystick-derive/place";
import type { Address } from "tallystick-protocol/address";
import { byPlace } from "../logPort/checkLogs.ts";
import type { BlockRange, TokenTransfer } from "../logPort/logPort.ts";
import { type ChainView, END, isBetween, transferEvent } from "./chainView.ts";
import { authorizes } from "./readPast.ts";

/** The number of blocks that are read in advance: one request of an RPC. */
const CHUNK = 10_000;

/** The number of block times in one request. */
const TIMES = 500;

/** The wallets whose transfers are applied. */
export type Watched = {
  /** All watched wallets, in the order in which they were added. */
  list: () => Promise<readonly Address[]>;
};

/** The transfers to some wallets in a range of final blocks. */
type Chunk = BlockRange & {
  wallets: Set<Address>;
  transfers: TokenTransfer[];
  /** The wallets whose authorizations are known, and the authorizations. */
  senders: Set<Address>;
  authorizations: Set<string>;
};

/** The transfers to watched wallets, in the order of the chain. In final blocks they are read in advance. */
export class TransfersAhead {
  #chunk: Chunk | null = null;

  /**
   * Applies all transfers to watched wallets between two places, neither included. Each transfer may add
   * watched wallets, from its place on.
   *
   * @param until a place of the view's head
   * @param apply returns whether more wallets may be watched now
   */
  async bringIn(view: ChainView, { after, until, watched, apply }: Bringing): Promise<void> {
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
      if (!isBetween(next, place, until)) break;
      await apply(transferEvent(next, view.token));
      place = next;
    }
    for (const { transfers, block, time } of view.recent) {
      if (block < place.block || block > until.block) continue;
      let wallets = new Set<string>(await watched.list());
      for (const transfer of transfers) {
        if (!wallets.has(transfer.to) || !isBetween(transfer, place, until)) continue;
        if (await apply(transferEvent({ ...transfer, time }, view.token))) {
          wallets = new Set(await watched.list());
        }
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
    if (!chunk.senders.has(from)) {
      const senders = [...new Set([from, ...chunk.transfers.map((it) => it.from)])];
      const fresh = senders.filter((it) => !chunk.senders.has(it));
      for (const it of await view.transfers.authorizations(fresh, chunk, view.retryRead)) {
        chunk.authorizations.add(it);
      }
      for (const it of fresh) chunk.senders.add(it);
    }
    return chunk.authorizations.has(key);
  }

  /** The chunk that contains a block, with the transfers to these wallets. */
  async #cover(view: ChainView, wallets: readonly Address[], block: number): Promise<Chunk> {
    let chunk = this.#chunk;
    if (chunk === null || block < chunk.from || block > chunk.to) {
      const to = Math.min(view.final, block + CHUNK - 1);
      chunk = {
        from: block,
        to,
        wallets: new Set(),
        transfers: [],
        senders: new Set(),
        authorizations: new Set(),
      };
    }
    const missing =
      wallets.length === chunk.wallets.size ? [] : wallets.filter((it) => !chunk.wallets.has(it));
    if (missing.length > 0) {
      const range = { from: chunk.from, to: chunk.to };
      const read = await view.transfers.to(missing, range, Number.POSITIVE_INFINITY, view.retryRead);
      chunk.transfers = [...chunk.transfers, ...read].sort(byPlace);
      for (const it of missing) chunk.wallets.add(it);
    }
    this.#chunk = chunk;
    return chunk;
  }

  /** The first transfer after a place, with its time; null when the chunk has none. */
  async #nextOf(
    view: ChainView,
    { transfers }: Chunk,
    after: Place,
  ): Promise<(TokenTransfer & { time: number }) | null> {
    const at = firstAfter(transfers, after);
    const next = transfers[at];
    if (next === undefined) return null;
    if (next.time === null) {
      const timed = await view.transfers.withTimes(transfers.slice(at, at + TIMES), view.retryRead);
      transfers.splice(at, timed.length, ...timed);
    }
    return transfers[at] as TokenTransfer & { time: number };
  }
}

export type Bringing = {
  after: Place;
  until: Place;
  watched: Watched;
  apply: (transfer: TransferEvent) => Promise<boolean>;
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
