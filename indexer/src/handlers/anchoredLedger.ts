import { type Context, type Event, ponder } from "ponder:registry";
import { sql } from "ponder";
import { createPublicClient, http } from "viem";
import type { Hex } from "../../../protocol/hex.ts";
import type { LedgerEntry } from "../../../protocol/ledger/entry.ts";
import { config, operations } from "../../environment.ts";
import {
  anchor,
  equivocation,
  ledger,
  ledgerEntry,
  ledgerNode,
  openedLedger,
  timeline,
} from "../../ponder.schema.ts";
import { logInfo, logWarning, shutdownSignal } from "../../ponderProcess.ts";
import type { RecordEvent } from "../derive/events.ts";
import { logEvent, recover } from "../eventLog.ts";
import { EMPTY_LEDGER, type LedgerHead } from "../segments/checkSegment.ts";
import { contractSignature } from "../segments/contractSignature.ts";
import { loadSegment } from "../segments/loadSegment.ts";
import { entryType, recordEvent } from "../segments/recordEvent.ts";
import { openSegmentSource } from "../segments/segmentSource.ts";
import { nodeKey } from "../segments/storedTree.ts";
import { anchorKey } from "../timeline.ts";
import { lower, placeOf } from "./place.ts";

// What an earlier process waited for when it ended is no longer waited for, until this one comes to it again.
void operations.reportUnblocked();

ponder.on("AnchoredLedger:Opened", async ({ event, context }) => {
  const { ledgerId, writer, origin } = event.args;
  const { block, time } = placeOf(event);
  await context.db.insert(openedLedger).values({ id: ledgerId, writer: lower(writer), origin, block, time });
});

ponder.on("AnchoredLedger:Equivocated", async ({ event, context }) => {
  const { ledgerId, size, rootA, rootB } = event.args;
  const { block, time } = placeOf(event);
  await context.db
    .insert(equivocation)
    .values({ id: ledgerId, size, rootA, rootB, block, time })
    .onConflictDoNothing();
});

/** Every anchor is noted; of the ledgers that are followed, the entries count from here on. */
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
  const loaded = await loadSegment({
    anchor: {
      ledger: ledgerId,
      oldSize,
      newSize,
      root,
      block: { number: place.block, hash: event.block.hash },
    },
    head,
    source: openSegmentSource(sourceConfig),
    read: async (entries, nodes) => ({
      read: await readEntries(context, entries, { ...place, ledger: ledgerId, first: head.size }),
      nodes,
    }),
    ...waiting(context, event, sourceConfig.kind === "http" ? sourceConfig.url : sourceConfig.path),
  });
  if (loaded === null) return;
  const noted = { kind: "anchor", subject: id, agent: ledgerId, counterpart: null };
  await context.db.insert(timeline).values({ position: anchorKey(place), ...noted });
  for (const { height, index, hash } of loaded.result.nodes) {
    await context.db.insert(ledgerNode).values({ id: nodeKey(ledgerId, height, index), hash });
  }
  for (const { row, event: record } of loaded.result.read) {
    await context.db.insert(ledgerEntry).values(row);
    if (record !== null) await logEvent(context.db, record, event.block.hash);
  }
  await saveHead(context, ledgerId, loaded.head, place);
});

type AnchoredContext = Context<"AnchoredLedger:Anchored">;

async function ledgerHead(context: AnchoredContext, id: Hex): Promise<LedgerHead> {
  const row = await context.db.find(ledger, { id });
  if (row === null) return EMPTY_LEDGER;
  const { size, root, frontier, head, bytes } = row;
  return { size, root: root as Hex, frontier: frontier.split(",") as Hex[], head, bytes };
}

async function saveHead(
  context: AnchoredContext,
  id: Hex,
  head: LedgerHead,
  { block, time }: { block: number; time: number },
): Promise<void> {
  const row = { ...head, frontier: head.frontier.join(","), block, time };
  await context.db
    .insert(ledger)
    .values({ id, ...row })
    .onConflictDoUpdate(row);
}

/** The rows and events of a segment's entries; asks the chain about the signatures of contracts. */
async function readEntries(
  context: AnchoredContext,
  entries: LedgerEntry[],
  at: { block: number; time: number; log: number; ledger: Hex; first: number },
): Promise<{ row: typeof ledgerEntry.$inferInsert; event: RecordEvent | null }[]> {
  const read = [];
  for (const [index, entry] of entries.entries()) {
    const seq = at.first + index;
    const { block, time, log, ledger } = at;
    const row = { id: `${ledger}/${seq}`, ledger, seq, hash: entry.currentHash, type: entryType(entry) };
    const event = recordEvent(entry, { block, time, log, ledger, seq });
    if (event !== null && event.error === undefined) {
      const erc1271 = await contractSignature(context.client, event, recover);
      if (erc1271 !== undefined) event.erc1271 = erc1271;
    }
    read.push({ row, event });
  }
  return read;
}

/** What happens while a segment is not to be had. */
function waiting(
  context: AnchoredContext,
  { args, block }: Event<"AnchoredLedger:Anchored">,
  source: string,
) {
  const { ledgerId, oldSize, newSize } = args;
  const number = Number(block.number);
  const { hash } = block;
  const since = Math.floor(Date.now() / 1000);
  const segment = { ledger: ledgerId, oldSize, newSize, block: number, since };
  const line = { ledger: ledgerId, from: Number(oldSize), to: Number(newSize), block: number, source };
  // Not Ponder's client: that one answers from its cache.
  const chain = createPublicClient({ transport: http(config.rpcUrl, { retryCount: 0 }) });
  return {
    signal: shutdownSignal(),
    isCanonical: async () => (await chain.getBlock({ blockNumber: block.number })).hash === hash,
    // Ponder's transaction stays open meanwhile, and Postgres ends one that is idle for an hour.
    keepAlive: async () => void (await context.db.sql.execute(sql`SELECT 1`)),
    onBlocked: async ({ attempts, reason }: { attempts: number; reason: string }) => {
      // Powers of two: seldom enough for a log that is read, often enough for one that is searched.
      if (Math.log2(attempts) % 1 === 0) {
        logWarning({ msg: "Waiting for a ledger segment", ...line, attempts, reason });
      }
      await operations.reportBlocked({ ...segment, attempts, reason });
    },
    onUnblocked: async () => {
      logInfo({ msg: "Stopped waiting for a ledger segment", ...line });
      await operations.reportUnblocked();
    },
  };
}
