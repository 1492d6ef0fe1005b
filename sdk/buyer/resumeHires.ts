import { parseUsdc } from "../../protocol/amount.ts";
import type { TallystickError } from "../../protocol/errors.ts";
import type { Hex } from "../../protocol/hex.ts";
import { type EscrowOfHire, HireFailedError, type MoneyState, NoSellerError } from "../errors.ts";
import type { BuyerContext, BuyerMode } from "./buyerContext.ts";
import { conclude, type HireResult, type Hiring, lookUp } from "./hireOnce.ts";
import type { JournalEntry } from "./journal.ts";
import { createSellerClient } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** What became of a hire that was interrupted. */
export type ResumedHire = { jobId: string; hireId: Hex; escrow: EscrowOfHire | null } & (
  | { hire: HireResult }
  | { error: TallystickError; isOver: boolean; money: MoneyState }
);

/** Where the money of a payment is that is over. */
const ENDED = { unpaid: "none", back: "refunded", paid: "paid" } as const;

/** How long a resumed hire may take to be looked up, in milliseconds. */
const LOOK_MS = 5_000;

/**
 * Concludes the hires in the journal: each is looked up at its seller, verified, and released, refunded or reported as it
 * would have been. One that its seller does not finish stays in the journal until its payment can no longer be taken;
 * then its budget comes back, since nothing was paid. Hires that are under way in this process are left alone.
 *
 * @param verify the caller's own check, as it was given to `hire`
 */
export async function resumeHires(context: BuyerContext, verify?: Verify): Promise<ResumedHire[]> {
  const outcomes: ResumedHire[] = [];
  for (const key of await context.journal.keys("hire")) {
    const entry = await context.journal.get<JournalEntry>(key);
    if (!entry || context.underWay.has(entry.jobId)) continue;
    context.underWay.add(entry.jobId);
    try {
      outcomes.push(await resumeOne(context, entry, verify));
    } finally {
      context.underWay.delete(entry.jobId);
    }
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
  const mode = modeIn(context, listing.payment_mode);
  // Its escrow was taken off the list meanwhile: what it holds comes back at the deadline, and no other hire has to wait.
  if (mode instanceof NoSellerError) {
    return { jobId, hireId, escrow: null, error: mode, isOver: false, money: "authorized" };
  }
  const of = { jobId, hireId, escrow: mode.escrowOf?.(payment) ?? null };
  try {
    const response = await lookUp(hiring, jobId, context.now() + LOOK_MS, mode.whenSent);
    return { ...of, hire: await conclude(hiring, response, payment) };
  } catch (error) {
    if (!(error instanceof HireFailedError)) throw error;
    // Who cannot be asked today is asked the next time; the other hires need not wait for it.
    const isOver = await mode.isOver(payment).catch(() => false as const);
    if (isOver === "unpaid" || isOver === "back") await context.budget?.giveBack(hireId);
    if (isOver === "paid") await context.budget?.spend(hireId);
    if (isOver !== false) await context.journal.delete(`hire/${jobId}`);
    return { ...of, error, isOver: isOver !== false, money: isOver === false ? error.money : ENDED[isOver] };
  }
}

function modeIn(context: BuyerContext, paymentMode: string): BuyerMode | NoSellerError {
  try {
    return context.modeOf(paymentMode);
  } catch (error) {
    if (error instanceof NoSellerError) return error;
    throw error;
  }
}
