import type { BuyerContext } from "./buyerContext.ts";

/**
 * Deletes a hire from the journal once its money is booked and, for a hire with an idempotency key, its result or its failure
 * is stored under the key. Whichever of the two comes second deletes it. So if a process is killed between them, the next call
 * with the key still finds the hire in the journal, and gets its result from the seller again. A note without a result is all
 * that is kept of an older hire, so that hire ends too.
 */
export async function endInJournal(
  { journal, kept }: Pick<BuyerContext, "journal" | "kept">,
  { jobId, key }: { jobId: string; key?: string | undefined },
): Promise<void> {
  if (key !== undefined) {
    const found = await kept.get(key);
    if (found?.state === "signed" && found.jobId === jobId && !found.isNote) return;
  }
  await journal.delete(`hire/${jobId}`);
}
