import type { BuyerContext } from "./buyerContext.ts";
import { endInJournal } from "./endInJournal.ts";

/** Ends a hire in the journal once its result or its failure is stored under its key, if its money is booked. */
export async function endIfSettled(
  context: Pick<BuyerContext, "journal" | "kept">,
  key: string,
  jobId: string,
): Promise<void> {
  if (await context.kept.isSettled(key, jobId)) await endInJournal(context, { jobId, key });
}
