import { TallystickError } from "tallystick-protocol/errors";
import { HEARTBEAT_MS, type IndexerState, readIndexer } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import type { UpgradeReport } from "./upgradeReport.ts";

/** Two schemas: the one that is in use now, and the one that will replace it. */
export type Schemas = { live: string; next: string };

/** How far the new indexer is behind. */
export type Distance = {
  block: number;
  liveBlock: number;
  behind: number;
  etaSeconds: number | null;
  missing: Missing | null;
};

/**
 * What the new indexer still lacks, in this order: a heartbeat, the end of the history, blocks, the last
 * tick.
 */
export type Missing = "heartbeat" | "history" | "blocks" | "tick";

const EVERY_MS = 500;
/** An indexer without a heartbeat for so long counts as ended. Ponder writes one every ten seconds. */
const SILENT_MS = 2 * HEARTBEAT_MS;

/** What the new indexer still needs, so that a switch makes no answer older; null if it needs nothing. */
export function missingOf(live: IndexerState, next: IndexerState | undefined): Missing | null {
  if (!next?.isLocked) return "heartbeat";
  if (!next.isReady) return "history";
  if (next.block < live.block) return "blocks";
  return next.tick < live.tick ? "tick" : null;
}

/**
 * Waits until the new indexer has what the old one has. A new heartbeat must show that it runs. The state that
 * a crashed indexer left may look complete, but the next indexer in this schema first removes a part of it.
 *
 * @param parameters.lastBeat the heartbeat in the new schema before the upgrade began
 * @throws TallystickError `indexer_ended` when nobody indexes into the new schema any more;
 * `indexer_without_lock`; `wait_timeout`
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
  let beat = lastBeat;
  let silent = 0;
  let isAlive = false;
  let wasLocked = true;
  return lookAgain(
    async () => {
      const after = await readIndexer(query, next);
      const before = await readIndexer(query, live);
      if (before === undefined) throw gone(live);
      // The silence is counted in attempts and not in time, because no heartbeat can be written while the
      // database cannot be reached.
      silent += EVERY_MS;
      if (after !== undefined && after.heartbeatAt !== beat) {
        if (!after.isLocked && !wasLocked && after.block > 0) throw withoutLock(next);
        beat = after.heartbeatAt;
        silent = 0;
        isAlive ||= after.isLocked;
      }
      wasLocked = after?.isLocked ?? true;
      const missing = isAlive ? missingOf(before, after) : "heartbeat";
      const block = after?.block ?? 0;
      if (missing === null) return { block, liveBlock: before.block, behind: 0, etaSeconds: 0, missing };
      if ((isAlive && after?.isLocked === false) || silent > silentMs) throw ended(next);
      const behind = Math.max(0, before.block - block);
      // Before its first block nothing is known about its speed.
      if (block > 0) first ??= behind;
      const etaSeconds = secondsLeft({ first, behind, elapsedMs: performance.now() - began });
      const distance = { block, liveBlock: before.block, behind, etaSeconds, missing };
      tell(describe(distance), distance);
      return undefined;
    },
    { what: `the indexer of ${next} to catch up`, withinMs, everyMs: EVERY_MS, signal },
  );
}

/** The remaining seconds at the present speed; null if it did not come nearer. */
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

function describe({ block, behind, etaSeconds, missing }: Distance): string {
  if (block === 0) return "no block yet";
  const left = etaSeconds === null ? "" : `, about ${duration(etaSeconds)} left`;
  if (behind > 0) return `block ${block}, ${behind} behind${left}`;
  if (missing === "heartbeat") return `block ${block}, no heartbeat of its indexer yet`;
  return missing === "history"
    ? `block ${block}, the end of the history is missing`
    : `block ${block}, the last tick is missing`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function ended(schema: string): TallystickError {
  return new TallystickError({
    code: "indexer_ended",
    message: `Nobody indexes into ${schema} any more.`,
    hint: "Its log says why it ended. Start it again. Then start the upgrade, which continues where it was.",
  });
}

function withoutLock(schema: string): TallystickError {
  return new TallystickError({
    code: "indexer_without_lock",
    message: `An indexer writes to ${schema} without the lock of its tables: an earlier indexer ended there before its first block.`,
    hint: "Nothing was switched. Start that indexer again, so that it takes the lock. Then start the upgrade, which continues where it was.",
  });
}

function gone(schema: string): TallystickError {
  return new TallystickError({
    code: "live_schema_gone",
    message: `The tables of ${schema}, which the views read, are gone.`,
    hint: "The views cannot be read. `tallystick upgrade --make-views SCHEMA` makes them again.",
  });
}
