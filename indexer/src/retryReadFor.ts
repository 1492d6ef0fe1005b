import type { Context } from "ponder:registry";
import { sql } from "ponder";
import { operations } from "../environment.ts";
import type { Gap } from "../logPort/completeness/checkCompleteness.ts";
import type { BlockAt } from "../logPort/logPort.ts";
import { isReadingHistory, shutdownSignal } from "../ponderProcess.ts";
import { OrphanedError, type ReadOnce, type RetryRead } from "../relevant/retryRead.ts";
import { reportsOfHold, reportsOfWait } from "../relevant/transferReports.ts";
import { transfersMissing } from "../relevant/transfersMissing.ts";
import { freshChain } from "./freshChain.ts";
import { blockOnChain } from "./segments/blockOnChain.ts";
import { retryUntilAvailable, type Waiting } from "./segments/retryUntilAvailable.ts";

/** The longest time of one step. A long history is read in several steps. */
const DEADLINE_MS = 600_000;

/** The pauses between two checks of a gap, because each check may read a long history. */
const LOOKS = { first: 10_000, most: 600_000 };

/** The report while the indexer waits. */
type WaitEvents = Pick<Waiting, "onBlocked" | "onUnblocked">;

/** The settings of a handler's wait. */
export function waitingFor(db: Context["db"], head: BlockAt, events: WaitEvents): Waiting {
  const signal = shutdownSignal();
  const chain = freshChain();
  return {
    ...events,
    signal,
    ...blockOnChain(
      head,
      (block) => chain.getBlock({ blockNumber: BigInt(block) }),
      signal,
      isReadingHistory,
    ),
    // Ponder's transaction stays open meanwhile, and Postgres ends one that is idle for an hour.
    keepAlive: async () => void (await db.sql.execute(sql`SELECT 1`)),
  };
}

/**
 * The longest time of one step of a read in the background. It is shorter, because a handler that needs this read waits for
 * its end, and only then reports that a source does not answer.
 */
const BACKGROUND_MS = 120_000;

/** Reads logs once, in the background. */
export const readOnce: ReadOnce = (work) => work({ signal: shutdownSignal(), deadlineMs: BACKGROUND_MS });

/**
 * Reads logs for a block until they are available. The wait is reported like a missing segment.
 *
 * @param isDoubtful whether a more serious report is there already. Then that report stays
 */
export function retryReadFor(db: Context["db"], head: BlockAt, isDoubtful: () => boolean): RetryRead {
  const { block } = head;
  const waiting = waitingFor(db, head, reportsOfWait(operations, block, isDoubtful));
  const call = { signal: waiting.signal, deadlineMs: DEADLINE_MS };
  return async (work) => {
    const done = await retryUntilAvailable(() => work(call), waiting);
    if (done === null) throw new OrphanedError(block);
    return done.result;
  };
}

/**
 * Holds a block as long as the transfers of a wallet do not add up.
 *
 * @param look checks again, and returns what does not add up; null when all add up
 * @throws OrphanedError when the block is gone
 */
export async function holdFor(
  db: Context["db"],
  head: BlockAt,
  known: string,
  look: (signal: AbortSignal) => Promise<Gap | null>,
): Promise<void> {
  const { block } = head;
  let wallet: string | null = known;
  const waiting = waitingFor(
    db,
    head,
    reportsOfHold(operations, block, () => wallet),
  );
  const attempt = async () => {
    const gap = await look(waiting.signal);
    wallet = gap?.wallet ?? null;
    if (gap !== null) throw transfersMissing(gap);
  };
  if ((await retryUntilAvailable(attempt, { ...waiting, pause: LOOKS })) === null)
    throw new OrphanedError(block);
}
