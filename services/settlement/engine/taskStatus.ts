import { InvalidInputError } from "tallystick-protocol/errors";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { ListedProposal } from "./consensusTable.ts";
import type { HeldProposal, HeldProposals } from "./heldProposals.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";
import type { SettledEntry } from "./settlementEngine.ts";

/**
 * The most entries, held proposals and staked proposals in one answer about a task. There is a limit because
 * a task id may be used any number of times.
 */
export const MAX_HISTORY = 100;

/** The number of entries in an answer, if the request names none. */
export const DEFAULT_HISTORY = 20;

/** A part of a task's history: the newest `limit` entries, or the entries before the one at `before`. */
export type HistoryPage = { limit: number; before?: number | undefined };

/** A held proposal as its task shows it. `review` is the operator's decision and the hash of its entry. */
export type HeldStatus = {
  id: string;
  timestamp: number;
  divergence: number;
  review?: { decision: string; hash: string };
};

type TaskEntry = SettledEntry & { parent_hash: string };

/** The history of a task, oldest first. */
export type TaskStatus = {
  /** The newest entry of the task, whichever part of its history was asked for; undefined without one. */
  latest: TaskEntry | undefined;
  settled: TaskEntry[];
  /** The value of `before` that gives the next older entries; null when there are none. */
  next: number | null;
  held: HeldStatus[];
  /** Whether the last held proposal came after the newest entry. */
  isHeldLast: boolean;
  consensus: { final: string | null; finalAt: number | null; proposals: readonly ListedProposal[] } | null;
};

/** The status of a task: its newest entries, its held proposals, and its consensus (swarm.at §7.1, §11). */
export async function readTaskStatus(
  taskId: string,
  { ledger, index, held }: { ledger: DiskLedger; index: LedgerIndex; held: HeldProposals },
  { limit, before }: HistoryPage = { limit: DEFAULT_HISTORY },
): Promise<TaskStatus> {
  if (before !== undefined && (before >= ledger.size || (await ledger.envelope(before)).taskId !== taskId)) {
    throw new InvalidInputError({
      issues: [{ field: "before", message: "is not the position of an entry of this task" }],
    });
  }
  const found = index.indexesOfTask(taskId, limit + 1, before);
  const next = found.length > limit ? (found.at(-limit) as number) : null;
  const settled = await entriesAt(found.slice(-limit), taskId, ledger);
  const [latest] =
    before === undefined
      ? settled.slice(-1)
      : await entriesAt(index.indexesOfTask(taskId, 1), taskId, ledger);
  const waiting = held.ofTask(taskId, MAX_HISTORY);
  const proposals = index.consensus.proposals(taskId, MAX_HISTORY);
  const final = index.consensus.final(taskId);
  return {
    latest,
    settled,
    next,
    isHeldLast: await isAfter(waiting.at(-1), latest, { index, held }),
    held: waiting.map(({ id, timestamp, divergence }) => {
      const review = index.reviewOf(id);
      const decided = review && { review: { decision: review.decision, hash: review.hash } };
      return { id, timestamp, divergence, ...decided };
    }),
    consensus:
      proposals.length > 0
        ? { final: final?.proposal ?? null, finalAt: final?.index ?? null, proposals }
        : null,
  };
}

/**
 * The entries at these positions. The index may give a position of another task, so they are compared with the task's
 * id.
 */
async function entriesAt(positions: number[], taskId: string, ledger: DiskLedger): Promise<TaskEntry[]> {
  const entries = await Promise.all(positions.map(async (at) => ({ at, ...(await ledger.envelope(at)) })));
  return entries
    .filter((entry) => entry.taskId === taskId)
    .map(({ at, currentHash, parentHash, timestamp }) => ({
      hash: currentHash,
      index: at,
      timestamp,
      parent_hash: parentHash,
    }));
}

/**
 * Whether a proposal was held after an entry was made. The proposal's parent shows this, because it was the head when
 * the proposal was held. Times do not show it, because the clock may have been set back.
 */
async function isAfter(
  last: HeldProposal | undefined,
  entry: { index: number } | undefined,
  { index, held }: { index: LedgerIndex; held: HeldProposals },
): Promise<boolean> {
  if (last === undefined || entry === undefined) return last !== undefined;
  const { parentHash } = await held.content(last.id);
  return (index.indexOfHash(parentHash) ?? -1) >= entry.index;
}
