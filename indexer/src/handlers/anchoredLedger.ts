import { type Context, type Event, ponder } from "ponder:registry";
import type { RecordEvent } from "tallystick-derive/events";
import { contractVerdict } from "tallystick-protocol/erc1271/contractVerdict";
import type { Hex } from "tallystick-protocol/hex";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";
import { config, operations } from "../../environment.ts";
import {
  anchor,
  equivocation,
  genericEntry,
  ledger,
  openedLedger,
  timeline,
  treePage,
} from "../../ponder.schema.ts";
import { isReadingHistory, logInfo, logWarning } from "../../ponderProcess.ts";
import { OrphanedError } from "../../relevant/retryRead.ts";
import { logEvents, recover, unlessOrphaned } from "../eventLog.ts";
import { freeRows, transactionName } from "../freeRows.ts";
import { freshChain } from "../freshChain.ts";
import { waitingFor } from "../retryReadFor.ts";
import { EMPTY_LEDGER, type LedgerHead } from "../segments/checkSegment.ts";
import { HeldRows, type HeldTransaction } from "../segments/heldRows.ts";
import { LinesForOthers } from "../segments/linesForOthers.ts";
import { type LoadedPart, type LoadingOptions, loadSegment } from "../segments/loadSegment.ts";
import { LongReading } from "../segments/longReading.ts";
import { entryType, recordEvent } from "../segments/recordEvent.ts";
import { type Failure, retryUntilAvailable, type Waiting } from "../segments/retryUntilAvailable.ts";
import { openSegmentSource } from "../segments/segmentSource.ts";
import { SignersAhead } from "../segments/signersAhead.ts";
import { headOf, storedHead } from "../segments/storedHead.ts";
import { type GrownPage, pageKey } from "../segments/storedTree.ts";
import { walletsAtBlock } from "../segments/walletsAtBlock.ts";
import { anchorKey } from "../timeline.ts";
import { lower, placeOf } from "./place.ts";

/**
 * More than two threads would wait for the main thread: its own work for a record takes as long as recovering a key.
 */
const MAX_THREADS = 2;

const signatureThreads = new SignatureThreads({
  most: MAX_THREADS,
  onEnd: (reason, isOver) => {
    const msg = isOver
      ? "Reading signatures without threads from here on"
      : "A thread that reads signatures ended";
    logWarning({ msg, reason });
  },
});

const linesForOthers = new LinesForOthers(operations.lines);

const heldRows = new HeldRows();

// An earlier process reported a wait. This process has not come to that block yet, so the report is cleared.
void operations.reportUnblocked();

ponder.on("AnchoredLedger:Opened", async ({ event, context }) => {
  const { ledgerId, origin } = event.args;
  const { block, time } = placeOf(event);
  const writer = lower(event.args.writer);
  const guardian = lower(event.args.guardian);
  await context.db
    .insert(openedLedger)
    .values({ id: ledgerId, writer, firstWriter: writer, guardian, origin, block, time });
});

ponder.on("AnchoredLedger:WriterChanged", async ({ event, context }) => {
  const { ledgerId, next } = event.args;
  await context.db.update(openedLedger, { id: ledgerId }).set({ writer: lower(next) });
});

ponder.on("AnchoredLedger:Equivocated", async ({ event, context }) => {
  const { ledgerId, size, root, ownRoot } = event.args;
  const { block, time } = placeOf(event);
  await context.db
    .insert(equivocation)
    .values({ id: ledgerId, size, root, ownRoot, block, time })
    .onConflictDoNothing();
});

/** Every anchor is noted. For followed ledgers the entries count from here on. */
ponder.on("AnchoredLedger:Anchored", async ({ event, context }) => {
  const { ledgerId, seq, oldSize, newSize, root } = event.args;
  const place = placeOf(event);
  const tx = event.transaction.hash;
  const id = `${ledgerId}/${seq}`;
  await context.db.insert(anchor).values({ id, ledger: ledgerId, seq, oldSize, newSize, root, ...place, tx });

  const sourceConfig = config.ledgers.get(ledgerId);
  if (sourceConfig === undefined) return;
  if ((await context.db.find(equivocation, { id: ledgerId })) !== null) return;
  const head = await ledgerHead(context, ledgerId);
  const waits = waiting(context, event, sourceConfig.kind === "http" ? sourceConfig.url : sourceConfig.path);
  const { signal } = waits;
  const source = openSegmentSource(sourceConfig, ledgerId);
  const transaction: HeldTransaction = {
    name: () => transactionName(context.db),
    free: () => freeRows(context.db),
  };
  const retry = async <Result>(attempt: () => Promise<Result>) => {
    const done = await retryUntilAvailable(attempt, waits);
    if (done === null) throw new OrphanedError(place.block);
    return done.result;
  };
  await unlessOrphaned(async () => {
    const segment = { oldSize, newSize, root };
    const checking = new LongReading(place.block, waits);
    const goOn = (size: number) => checking.goOn(size);
    try {
      for await (const part of loadSegment(segment, { head, source, signal, retry, goOn })) {
        // The whole segment is checked before its first part comes.
        await checking.end();
        if (BigInt(part.from) === oldSize) await noteAnchor(context, event);
        await heldRows.makeRoom(part.lines, transaction);
        await applyPart(context, event, part, { waits, retry });
        if (BigInt(part.head.size) === newSize) await saveHead(context, ledgerId, part.head, place);
      }
    } finally {
      await checking.end();
    }
  });
});

/** Notes in the timeline that a followed ledger was anchored. */
async function noteAnchor({ db }: AnchoredContext, event: AnchoredEvent): Promise<void> {
  const { ledgerId, seq } = event.args;
  const noted = { kind: "anchor", subject: `${ledgerId}/${seq}`, agent: ledgerId, counterpart: null };
  const position = anchorKey(placeOf(event));
  await db.insert(timeline).values({ position, blockHash: event.block.hash, ...noted });
}

/** @throws OrphanedError when the block is gone from the chain. Ponder undoes the earlier writes together with the block */
async function applyPart(
  context: AnchoredContext,
  event: AnchoredEvent,
  { from, entries, lines, pages }: LoadedPart,
  { waits, retry }: { waits: Waiting; retry: LoadingOptions["retry"] },
): Promise<void> {
  const { ledgerId } = event.args;
  const place = placeOf(event);
  await linesForOthers.keep(ledgerId, { from, lines }, waits.signal);
  const events = entries.map((entry, index) =>
    recordEvent(entry, { ...place, ledger: ledgerId, seq: from + index }),
  );
  const signed = events.map((record) => (record === null || record.error !== undefined ? null : record));
  const ahead = new SignersAhead(signed, signatureThreads, recover.known);
  for (const page of pages) await savePage(context, ledgerId, page);
  // The contract that emitted the anchor has code at that block.
  const trusting = { recover, witness: lower(event.log.address) };
  const fresh = freshChain();
  const wallets = walletsAtBlock(
    context.client,
    { call: (question) => fresh.call({ ...question, blockHash: event.block.hash }) },
    isReadingHistory,
  );
  const log = async (records: RecordEvent[]) => {
    if (!(await logEvents(context.db, records, event.block))) throw new OrphanedError(place.block);
  };
  let together: RecordEvent[] = [];
  for (const [index, record] of events.entries()) {
    await ahead.until(index);
    if (record === null) {
      await saveGenericWork(context, ledgerId, from + index, entries[index] as LedgerEntry);
      continue;
    }
    if (record.error === undefined) {
      // Contract wallets are checked on the chain, which may not answer.
      const verdict = await retry(() => contractVerdict(wallets, record, trusting));
      if (verdict !== undefined) record.erc1271 = verdict;
    }
    if (together.push(record) < WRITTEN_TOGETHER) continue;
    await log(together);
    together = [];
  }
  await log(together);
}

/**
 * The number of records whose changes are written together. Many change the same rows, and no reader sees
 * them before the end of the block.
 */
const WRITTEN_TOGETHER = 256;

type AnchoredContext = Context<"AnchoredLedger:Anchored">;
type AnchoredEvent = Event<"AnchoredLedger:Anchored">;

async function ledgerHead(context: AnchoredContext, id: Hex): Promise<LedgerHead> {
  const row = await context.db.find(ledger, { id });
  return row === null ? EMPTY_LEDGER : headOf(row);
}

async function saveHead(
  context: AnchoredContext,
  id: Hex,
  head: LedgerHead,
  { block, time }: { block: number; time: number },
): Promise<void> {
  const row = { ...storedHead(head), block, time };
  await context.db
    .insert(ledger)
    .values({ id, ...row })
    .onConflictDoUpdate(row);
}

async function savePage(context: AnchoredContext, ledgerId: Hex, page: GrownPage): Promise<void> {
  const { hashes } = page;
  const id = pageKey(ledgerId, page);
  if (page.isStored)
    await context.db.update(treePage, { id }).set((row) => ({ hashes: row.hashes + hashes }));
  else await context.db.insert(treePage).values({ id, hashes });
}

/** The derivation stores records. This stores the rest. */
async function saveGenericWork(
  context: AnchoredContext,
  ledgerId: Hex,
  seq: number,
  entry: LedgerEntry,
): Promise<void> {
  const row = { id: `${ledgerId}/${seq}`, ledger: ledgerId, seq };
  await context.db.insert(genericEntry).values({ ...row, hash: entry.currentHash, type: entryType(entry) });
}

/** The actions while a segment is not available. */
function waiting(context: AnchoredContext, { args, block }: AnchoredEvent, source: string): Waiting {
  const { ledgerId, oldSize, newSize } = args;
  const number = Number(block.number);
  const since = Math.floor(Date.now() / 1000);
  const segment = { ledger: ledgerId, oldSize, newSize, block: number, since };
  const line = { ledger: ledgerId, from: Number(oldSize), to: Number(newSize), block: number, source };
  return waitingFor(
    context.db,
    { block: number, hash: block.hash },
    {
      onBlocked: async ({ attempts, reason, logged }: Failure) => {
        // The first, second, fourth, eighth attempt and so on. This keeps the log short.
        if (Math.log2(attempts) % 1 === 0) {
          logWarning({ msg: "Waiting for a ledger segment", ...line, attempts, reason: logged });
        }
        await operations.reportBlocked({ ...segment, attempts, reason });
      },
      onUnblocked: async () => {
        logInfo({ msg: "Stopped waiting for a ledger segment", ...line });
        await operations.reportUnblocked();
      },
    },
  );
}
