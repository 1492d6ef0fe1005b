import { TallystickError } from "tallystick-protocol/errors";
import { HEARTBEAT_MS, type IndexerState, readIndexer } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import type { UpgradeReport } from "./upgradeReport.ts";

/** Two schemas: the one that answers, and the one that shall. */
export type Schemas = { live: string; next: string };

/** How far the new one is. */
export type Distance = { block: number; liveBlock: number; behind: number; etaSeconds: number | null };

const EVERY_MS = 500;
/** An indexer whose heart has not beaten for so long is taken for ended; Ponder's beats every ten seconds. */
const SILENT_MS = 2 * HEARTBEAT_MS;

/** Whether answers would not fall back: somebody writes to it, history read through, no block and no tick behind. */
export function hasCaughtUp(live: IndexerState, next: IndexerState): boolean {
  return next.isLocked && next.isReady && next.block >= live.block && next.tick >= live.tick;
}

/**
 * Waits until the new indexer has what the old one has. Its heart must have beaten since: what one left that crashed may look caught
 * up, and the next one to start there takes a part of it back first.
 *
 * @param parameters.lastBeat the heartbeat in the new schema before the upgrade began
 * @throws TallystickError `indexer_ended` when nobody indexes into the new schema any more; `wait_timeout`
 */
export async function catchUp(
  { query }: UpgradeSession,
  { live, next }: Schemas,
  parameters: {
    withinMs: number;
    signal: AbortSignal;
    silentMs?: number | undefined;
    lastBeat: number | undefined;
    tell: Parameters<Parameters<UpgradeReport["step"]>[1]>[0];
  },
): Promise<Distance> {
  const { withinMs, signal, silentMs = SILENT_MS, lastBeat, tell } = parameters;
  const began = performance.now();
  let first: number | undefined;
  let beat = { at: lastBeat, seen: began };
  let isAlive = false;
  return lookAgain(
    async () => {
      const after = await readIndexer(query, next);
      const before = await readIndexer(query, live);
      if (before === undefined) throw gone(live);
      const now = performance.now();
      if (after !== undefined && after.heartbeatAt !== beat.at) {
        beat = { at: after.heartbeatAt, seen: now };
        isAlive ||= after.isLocked;
      }
      if (isAlive && after !== undefined && hasCaughtUp(before, after))
        return { block: after.block, liveBlock: before.block, behind: 0, etaSeconds: 0 };
      if ((isAlive && after?.isLocked === false) || now - beat.seen > silentMs) throw ended(next);
      const block = after?.block ?? 0;
      const behind = Math.max(0, before.block - block);
      // Before the first block of its own it has come nowhere, and nothing can be said about its pace.
      if (block > 0) first ??= behind;
      const etaSeconds = secondsLeft({ first, behind, elapsedMs: now - began });
      const distance = { block, liveBlock: before.block, behind, etaSeconds };
      tell(describe(distance), distance);
      return undefined;
    },
    { what: `the indexer of ${next} to catch up`, withinMs, everyMs: EVERY_MS, signal },
  );
}

/** At the pace so far; null when it has come no nearer. */
export function secondsLeft({
  first,
  behind,
  elapsedMs,
}: {
  first: number | undefined;
  behind: number;
  elapsedMs: number;
}) {
  if (first === undefined || behind >= first) return null;
  return Math.ceil((behind * elapsedMs) / (first - behind) / 1000);
}

function describe({ block, behind, etaSeconds }: Distance): string {
  if (block === 0) return "no block yet";
  const left = etaSeconds === null ? "" : `, about ${duration(etaSeconds)} left`;
  return behind === 0
    ? `block ${block}, the last tick is missing`
    : `block ${block}, ${behind} behind${left}`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function ended(schema: string): TallystickError {
  return new TallystickError({
    code: "indexer_ended",
    message: `Nobody indexes into ${schema} any more.`,
    hint: "Its log says why it ended. Start it again, then the upgrade: it goes on where it was.",
  });
}

function gone(schema: string): TallystickError {
  return new TallystickError({
    code: "live_schema_gone",
    message: `The tables of ${schema}, which the views read, are gone.`,
    hint: "The views cannot be read. `tallystick upgrade --make-views SCHEMA` makes them anew.",
  });
}
