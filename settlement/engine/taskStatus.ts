import type { StakedProposal } from "../../protocol/consensus/taskConsensus.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { HeldProposals } from "./heldProposals.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";
import { type SettledEntry, settledEntry } from "./settlementEngine.ts";

/** Most entries that {@link readTaskStatus} tells of a task: task ids may repeat without end. */
export const MAX_HISTORY = 100;

/** A held proposal as its task shows it; `review` is the operator's decision and the hash of its entry. */
export type HeldStatus = {
  id: string;
  timestamp: number;
  divergence: number;
  review?: { decision: string; hash: string };
};

/** What is known of a task, oldest first. */
export type TaskStatus = {
  settled: SettledEntry[];
  held: HeldStatus[];
  consensus: { final: string | null; finalAt: number | null; proposals: readonly StakedProposal[] } | null;
};

/** What is known of a task: its newest entries, the proposals held for it, and what the swarm said (swarm.at §7.1, §11). */
export async function readTaskStatus(
  taskId: string,
  { ledger, index, held }: { ledger: DiskLedger; index: LedgerIndex; held: HeldProposals },
): Promise<TaskStatus> {
  const settled: SettledEntry[] = [];
  for (const at of index.indexesOfTask(taskId, MAX_HISTORY)) {
    const entry = await ledger.entry(at);
    if (entry.taskId === taskId) settled.push(settledEntry(entry, at));
  }
  const consensus = index.consensusOf(taskId);
  return {
    settled,
    held: held.ofTask(taskId).map(({ id, timestamp, divergence }) => {
      const review = index.reviewOf(id);
      const decided = review && { review: { decision: review.decision, hash: review.hash } };
      return { id, timestamp, divergence, ...decided };
    }),
    consensus: consensus
      ? {
          final: consensus.final?.proposal ?? null,
          finalAt: consensus.final?.index ?? null,
          proposals: consensus.proposals,
        }
      : null,
  };
}
