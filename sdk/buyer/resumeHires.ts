import { parseUsdc } from "../../protocol/amount.ts";
import { HireFailedError } from "../errors.ts";
import type { BuyerContext } from "./buyerContext.ts";
import { conclude, type HireResult, type Hiring, lookUp } from "./hireOnce.ts";
import type { JournalEntry } from "./journal.ts";
import { createSellerClient } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** What became of a hire that a crash interrupted. */
export type ResumedHire = { jobId: string } & ({ hire: HireResult } | { error: Error; isOver: boolean });

/** How long a resumed hire may take to be looked up, in milliseconds. */
const LOOK_MS = 5_000;

/**
 * Concludes the hires in the journal: each is looked up at its seller, verified, and released, refunded or reported as it
 * would have been. One that its seller does not finish stays in the journal until its payment can no longer be taken;
 * then its budget comes back, since nothing was paid.
 *
 * @param verify the caller's own check, as it was given to `hire`
 */
export async function resumeHires(context: BuyerContext, verify?: Verify): Promise<ResumedHire[]> {
  const outcomes: ResumedHire[] = [];
  for (const key of await context.journal.keys("hire")) {
    const entry = await context.journal.get<JournalEntry>(key);
    if (entry) outcomes.push(await resumeOne(context, entry, verify));
  }
  return outcomes;
}

async function resumeOne(
  context: BuyerContext,
  entry: JournalEntry,
  verify: Verify | undefined,
): Promise<ResumedHire> {
  const { jobId, hireId, listing } = entry;
  const hiring: Hiring = {
    context,
    candidate: { listing, price: parseUsdc(listing.price_usdc), reputation: {} },
    order: {
      params: entry.request.params,
      maxPrice: BigInt(entry.maxPrice),
      maxLatencyMs: entry.request.max_latency_ms ?? listing.max_latency_ms,
      verify,
      telemetry: true,
    },
    ask: createSellerClient(listing, context.fetch),
    request: entry.request,
    hireId,
    jobId,
    startedAt: entry.startedAt,
  };
  const payment = { payload: entry.payload, amount: BigInt(entry.amount), validUntil: entry.validUntil };
  const mode = context.modeOf(listing.payment_mode);
  try {
    const response = await lookUp(hiring, jobId, context.now() + LOOK_MS, mode.whenSent);
    return { jobId, hire: await conclude(hiring, response, payment) };
  } catch (error) {
    if (!(error instanceof HireFailedError)) throw error;
    const isOver = await mode.isOver(payment);
    if (isOver === "unpaid" || isOver === "back") await context.budget?.giveBack(hireId);
    if (isOver === "paid") await context.budget?.spend(hireId);
    if (isOver !== false) await context.journal.delete(`hire/${jobId}`);
    return { jobId, error, isOver: isOver !== false };
  }
}
