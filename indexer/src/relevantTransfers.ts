import type { Context } from "ponder:registry";
import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { LoadedRows } from "tallystick-derive/loadedRows";
import type { ReadPast } from "tallystick-derive/relevant/applyRelevant";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Address } from "tallystick-protocol/address";
import { type Params, paramsSchema } from "tallystick-protocol/records/params";
import type { IndexerConfig } from "../config.ts";
import { operations } from "../environment.ts";
import type { Flow } from "../logPort/completeness/checkCompleteness.ts";
import type { BlockAt } from "../logPort/logPort.ts";
import { transfersRead } from "../ponder.schema.ts";
import { logWarning, metricsRegistry, shutdownSignal } from "../ponderProcess.ts";
import { loggedReason } from "../publicReason.ts";
import { ChainTransfers, type ChainView, END } from "../relevant/chainView.ts";
import { CompletenessWatch, type Look } from "../relevant/completenessWatch.ts";
import { openConfiguredPort } from "../relevant/openConfiguredPort.ts";
import { readAhead } from "../relevant/readAhead.ts";
import { readPastOf } from "../relevant/readPast.ts";
import { receivedOf, withoutTransfers } from "../relevant/receivedOf.ts";
import { receiversOf } from "../relevant/receiversOf.ts";
import { type TransferMetrics, transferMetrics } from "../relevant/transferMetrics.ts";
import { reportGap, suspectsOf } from "../relevant/transferReports.ts";
import { TransfersAhead } from "../relevant/transfersAhead.ts";
import { WatchedWallets } from "../relevant/watchedWallets.ts";
import { holdFor, readOnce, retryReadFor } from "./retryReadFor.ts";

const LAST = "last";

/** The search begins this many blocks behind the last known final block: half an hour of Base. */
const NEAR = 1_000;

/** How long a check of some wallets' balances may take, because it may read a long history. */
const LOOK_MS = 3_600_000;

/** The part of a projector that this file uses. */
type TransferProjector = {
  /**
   * The rows before the event. Call this again after something was applied, because the returned rows keep what they
   * have read.
   */
  rows: () => Promise<LoadedRows>;
  /** The number of times that the database went back. */
  forgotten: () => number;
  /**
   * Applies transfers one after the other, and stops after one that adds watched wallets. Returns how many it
   * applied.
   */
  apply: (transfers: readonly TransferEvent[], read: ReadPast) => Promise<number>;
};

/**
 * Reads the transfers that matter while Ponder indexes everything else. The position up to which they are
 * applied is a row, so Ponder undoes it together with them. What is kept in memory here is valid on every
 * fork.
 */
export async function openRelevantTransfers(config: IndexerConfig) {
  const metrics = transferMetrics(config.transfers.form === "relevant" ? metricsRegistry() : undefined);
  const sources = openConfiguredPort(config, {
    onFallback: (failed, next) => {
      metrics.onFallback(failed);
      logWarning({ msg: "Reading transfers from another source", reason: loggedReason(failed), next });
    },
    onRequest: metrics.onRequest,
  });
  if (config.transfers.form !== "relevant" || sources === null) return null;
  const { token, transfers, startBlock } = config;
  const { port, others, balances } = sources;
  const { firstBlock, checkRounds: rounds } = transfers;
  const completeness =
    rounds === 0
      ? null
      : new CompletenessWatch(
          { ports: [port, ...others], balances, firstBlock, rounds, deadlineMs: LOOK_MS },
          await suspectsOf(operations, shutdownSignal()),
        );
  const chain = new ChainTransfers({ port, token, firstBlock, readOnce });
  const ahead = new TransfersAhead();
  const watched = new WatchedWallets();

  return {
    /**
     * Applies what comes before events of a block at one position.
     *
     * @returns the reader of the past for these events
     * @throws OrphanedError when the block is gone from the chain
     */
    async bringIn(
      db: Context["db"],
      head: BlockAt,
      events: readonly [DeriveEvent, ...DeriveEvent[]],
      projector: TransferProjector,
    ): Promise<ReadPast> {
      const view = await chain.at(
        head,
        retryReadFor(db, head, () => completeness?.isDoubtful ?? false),
      );
      const read = readPastOf(view, (transfer) => ahead.isAuthorized(view, transfer));
      const [event] = events;
      const known = await db.find(transfersRead, { id: LAST });
      const after = known ?? { block: startBlock - 1, log: END };
      const until = { block: head.block, log: event.kind === "tick" ? END : event.log };
      const params = await heldParams(await projector.rows());
      const list = () => watched.of(projector);
      const receivers = async (wallets: readonly Address[]) => {
        const rows = await projector.rows();
        return rows.run(() => receiversOf(rows, wallets, params.hubTransfers));
      };
      const apply = (some: readonly TransferEvent[]) => projector.apply(some, read);
      await ahead.bringIn(view, { after, until, params, watched: { list, receivers }, apply });
      if (events.length > 1 || (await makesAgent(event, await projector.rows()))) {
        await list();
        await readAhead(view, events, params, (wallet) => watched.has(wallet));
      }
      const row = { block: until.block, log: until.log - (until.log === END ? 0 : 1) };
      if (known === null) await db.insert(transfersRead).values({ id: LAST, ...row });
      else if (known.block !== row.block || known.log !== row.log) {
        await db.update(transfersRead, { id: LAST }).set(row);
      }
      if (completeness !== null && event.kind === "tick" && isNearHead(view)) {
        const rows = await projector.rows();
        await checkTransfers(db, view, completeness, { metrics, rows, watched: await list() });
      }
      return read;
    },
  };
}

/** Whether an event is the first deposit of a wallet. Then the wallet becomes an agent, whose past is read. */
async function makesAgent(event: DeriveEvent, rows: LoadedRows): Promise<boolean> {
  if (event.kind !== "escrow.deposited") return false;
  return (await rows.run(() => rows.get("agent", event.buyer))) === null;
}

/**
 * Whether the head is near the last final block. While a long history is read, nothing is checked: nobody takes an
 * old state for the present one, and the sources are busy.
 */
function isNearHead({ head, finalizedHead }: ChainView): boolean {
  return head.block > finalizedHead.block - NEAR;
}

/** Holds a tick while transfers do not add up, and starts another check in the background. */
async function checkTransfers(
  db: Context["db"],
  view: ChainView,
  completeness: CompletenessWatch,
  { metrics, rows, watched }: { metrics: TransferMetrics; rows: LoadedRows; watched: readonly Address[] },
): Promise<void> {
  const { hubTransfers } = await heldParams(rows);
  const look: Look = {
    // If the head itself is final, the rows are already those of the head.
    at: view.head.block > view.final ? view.finalizedHead : view.head,
    watched,
    hubTransfers,
    received: (wallets) => receivedUntilFinal(view, rows, wallets, hubTransfers),
  };
  const [held] = completeness.gaps;
  if (held !== undefined) {
    await holdFor(db, view.head, held.wallet, (signal) => completeness.lookAgain(look, signal));
  }
  await completeness.begin(look, shutdownSignal(), {
    onLooked: async (gap) => {
      metrics.onChecked();
      if (gap === null) {
        if ((await operations.readBlockedTransfers()) !== null) await operations.reportUnblockedTransfers();
        return;
      }
      await reportGap(operations, gap);
    },
    onFailed: (error) => {
      if (shutdownSignal().aborted) return;
      metrics.onUnchecked();
      logWarning({ msg: "Could not compare transfers with balances", reason: loggedReason(error) });
    },
  });
}

async function heldParams(rows: LoadedRows): Promise<Params> {
  const state = await rows.run(() => rows.get("state", STATE_ID));
  const text = state?.params ?? "{}";
  if (parsed?.text !== text) parsed = { text, params: paramsSchema.parse(JSON.parse(text)) };
  return parsed.params;
}

/** The parameters hardly ever change, so the last ones are parsed once. */
let parsed: { text: string; params: Params } | undefined;

/** The sums that wallets received up to the last final block: the rows minus transfers in later blocks. */
async function receivedUntilFinal(
  { recent, final, head }: ChainView,
  rows: LoadedRows,
  wallets: readonly Address[],
  hubTransfers: number,
): Promise<Map<Address, Flow>> {
  const flows = await rows.run(() => receivedOf(rows, wallets, hubTransfers));
  for (const { transfers, block } of recent)
    if (block > final && block <= head.block) withoutTransfers(flows, transfers);
  return flows;
}
