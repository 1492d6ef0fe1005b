import type { Context } from "ponder:registry";
import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { ReadPast } from "tallystick-derive/relevant/applyRelevant";
import type { Store } from "tallystick-derive/store";
import type { RowChange } from "tallystick-derive/transaction";
import type { IndexerConfig } from "../config.ts";
import type { BlockAt } from "../logPort/logPort.ts";
import { transfersRead } from "../ponder.schema.ts";
import { ChainTransfers, END } from "../relevant/chainView.ts";
import { openConfiguredPort } from "../relevant/openConfiguredPort.ts";
import { readPastOf } from "../relevant/readPast.ts";
import { TransfersAhead } from "../relevant/transfersAhead.ts";
import { WatchedWallets } from "../relevant/watchedWallets.ts";
import { patientFor } from "./patientFor.ts";

const LAST = "last";

/** The derivation, as far as transfers that are brought in need it. */
type Derivation = {
  /** The rows before the event. */
  rows: () => Promise<Pick<Store, "get">>;
  /** Grows when the database went back. */
  forgotten: () => number;
  apply: (transfer: TransferEvent, read: ReadPast) => Promise<readonly RowChange[]>;
};

/**
 * Looks for the transfers that matter while Ponder indexes everything else. Up to where they are applied is a row, which Ponder takes back
 * with them; what is remembered here besides holds on every fork.
 */
export function openRelevantTransfers(config: IndexerConfig) {
  const port = openConfiguredPort(config);
  if (config.transfers.form !== "relevant" || port === null) return null;
  const { token, transfers, startBlock } = config;
  const chain = new ChainTransfers({ port, token, firstBlock: transfers.firstBlock });
  const ahead = new TransfersAhead();
  const watched = new WatchedWallets();

  return {
    /**
     * Brings in what stands before an event of a block, or with null the whole block.
     *
     * @returns what tells the event of the past
     * @throws OrphanedError when the block is gone from the chain
     */
    async bringIn(
      db: Context["db"],
      head: BlockAt,
      event: DeriveEvent,
      derivation: Derivation,
    ): Promise<ReadPast> {
      const view = await chain.at(head, patientFor(db, head));
      const read = readPastOf(view, (transfer) => ahead.isAuthorized(view, transfer));
      const known = await db.find(transfersRead, { id: LAST });
      const after = known ?? { block: startBlock - 1, log: END };
      const until = { block: head.block, log: event.kind === "tick" ? END : event.log };
      const rows = await derivation.rows();
      await ahead.bringIn(view, {
        after,
        until,
        watched: { list: () => watched.of(rows, derivation.forgotten()) },
        apply: async (transfer) => {
          const changes = await derivation.apply(transfer, read);
          return changes.some(({ table }) => table === "inflow");
        },
      });
      const row = { block: until.block, log: until.log - (until.log === END ? 0 : 1) };
      if (known === null) await db.insert(transfersRead).values({ id: LAST, ...row });
      else if (known.block !== row.block || known.log !== row.log) {
        await db.update(transfersRead, { id: LAST }).set(row);
      }
      return read;
    },
  };
}
