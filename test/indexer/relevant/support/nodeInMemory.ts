import type { DeriveEvent, ParamsEvent, TransferEvent } from "tallystick-derive/events";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import { STATE_ID } from "tallystick-derive/stateId";
import type { RowChange } from "tallystick-derive/transaction";
import type { Address } from "tallystick-protocol/address";
import { paramsSchema } from "tallystick-protocol/records/params";
import type { LogPort } from "../../../../indexer/logPort/logPort.ts";
import { ChainTransfers, END } from "../../../../indexer/relevant/chainView.ts";
import { readPastOf } from "../../../../indexer/relevant/readPast.ts";
import { receiversOf } from "../../../../indexer/relevant/receiversOf.ts";
import type { RetryRead } from "../../../../indexer/relevant/retryRead.ts";
import { TransfersAhead } from "../../../../indexer/relevant/transfersAhead.ts";
import { WatchedWallets } from "../../../../indexer/relevant/watchedWallets.ts";
import { addTallies, type Tally, talliesOf } from "../../../../indexer/src/insights.ts";
import {
  addCounts,
  type MarketCounts,
  marketCountsOf,
  NO_COUNTS,
} from "../../../../indexer/src/marketCounts.ts";
import { type Applied, Projector } from "../../../../indexer/src/rows/projector.ts";
import { RowCache } from "../../../../indexer/src/rows/rowCache.ts";
import { type Moment, momentsOf } from "../../../../indexer/src/timeline.ts";
import { TOKEN } from "../../../derive/eventLog.ts";
import { FakeDatabase } from "../../rows/support/fakeDatabase.ts";
import { hashOf } from "./portOf.ts";

const OPTIONS = { trustSignatures: true };

/** What the node writes besides the rows of the derivation and the log. */
type Written = {
  last: { block: number; log: number };
  tallies: Map<string, Tally>;
  market: MarketCounts;
  moments: Moment[];
};

export type NodeOptions = {
  retryRead: RetryRead;
  /** The number of rows that stay in memory. */
  keep: number;
  /** The most transfers that are applied together. */
  together: number;
};

/** A node with relevant transfers, without Ponder. Its database is in memory, and can go back to an earlier state. */
export class NodeInMemory {
  readonly database = new FakeDatabase();
  readonly #options: NodeOptions;
  readonly #chain: ChainTransfers;
  readonly #ahead = new TransfersAhead();
  readonly #watched = new WatchedWallets();
  readonly #projector: Projector;
  written: Written = {
    last: { block: -1, log: END },
    tallies: new Map(),
    market: NO_COUNTS,
    moments: [],
  };
  /** The number of times that several transfers were applied together. */
  batches = 0;

  constructor(port: LogPort, options: NodeOptions) {
    this.#options = options;
    this.#chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: options.retryRead });
    this.#projector = new Projector(
      new RowCache({ rows: options.keep, readAgain: options.keep, payments: options.keep }),
    );
  }

  async begin(params: ParamsEvent): Promise<void> {
    await this.#apply([{ ...params, form: "relevant" }], "", () => []);
  }

  /** Does what the handler of an event does, or the handler of a block that has no event and wakes the node up. */
  async handle(block: number, event: DeriveEvent | null, hash: string): Promise<void> {
    const { retryRead, together } = this.#options;
    const view = await this.#chain.at({ block, hash: hashOf(block) }, retryRead);
    const read = readPastOf(view, (it) => this.#ahead.isAuthorized(view, it));
    const first: DeriveEvent = event ?? { kind: "tick", block, time: 0 };
    const log = "log" in first ? first.log : END;
    const projector = {
      rows: () => this.#projector.rowsBefore(this.database, first, hash),
      forgotten: () => this.#projector.forgotten,
    };
    const rows = await projector.rows();
    const state = await rows.run(() => rows.get("state", STATE_ID));
    const params = paramsSchema.parse(JSON.parse(state?.params ?? "{}"));
    await this.#ahead.bringIn(view, {
      after: this.written.last,
      until: { block, log },
      params,
      watched: {
        list: () => this.#watched.of(projector),
        receivers: async (wallets: readonly Address[]) => {
          const now = await projector.rows();
          return now.run(() => receiversOf(now, wallets, params.hubTransfers));
        },
      },
      apply: async (transfers: readonly TransferEvent[]) => {
        const some = transfers.slice(0, together);
        if (some.length > 1) this.batches++;
        return (await this.#apply(some, hash, read, watchesMore)).each.length;
      },
    });
    this.written = { ...this.written, last: { block, log: log === END ? END : log - 1 } };
    if (event !== null) await this.#apply([event], hash, read);
  }

  /** Returns a function that brings the node's database back to its present state. */
  save(): () => void {
    const [saved, written] = [this.database.save(), this.written];
    return () => {
      this.database.restore(saved);
      this.written = written;
    };
  }

  async #apply(
    events: readonly DeriveEvent[],
    hash: string,
    read: Parameters<Projector["apply"]>[4],
    isLast?: (changes: readonly RowChange[]) => boolean,
  ): Promise<Applied> {
    const applied = await this.#projector.apply(this.database, events, hash, OPTIONS, read, isLast);
    const tallies = new Map(this.written.tallies);
    for (const { key, by } of talliesOf(applied.together)) {
      const id = `${key.table} ${key.id}`;
      const before = tallies.get(id);
      tallies.set(id, before === undefined ? by : addTallies(before, by));
    }
    this.written = {
      ...this.written,
      tallies,
      market: addCounts(this.written.market, marketCountsOf(applied.together) ?? {}),
      moments: [...this.written.moments, ...applied.each.flatMap(momentsOf)],
    };
    return applied;
  }
}

/** The same function as in `eventLog.ts`. A test cannot import that file, because it needs Ponder. */
function watchesMore(changes: readonly RowChange[]): boolean {
  return changes.some(({ table, after }) => table === "list" && after.id === WATCHED);
}
