import { capabilityOf } from "tallystick-capabilities/capabilityOf";
import { parseUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { abortable, type Deadline, DeadlineError, startDeadline, within } from "../deadline.ts";
import { type EscrowOfHire, HireFailedError, type MoneyState, NoSellerError } from "../errors.ts";
import type { BuyerContext, BuyerMode, SignedPayment } from "./buyerContext.ts";
import { book, concludeHire, judgeDelivery, SETTLE_MS } from "./concludeHire.ts";
import { endIfSettled } from "./endIfSettled.ts";
import { endInJournal } from "./endInJournal.ts";
import { failed, MONEY_HINTS } from "./hireFailure.ts";
import { lookUp } from "./hireOnce.ts";
import type { HireResult } from "./hireResult.ts";
import type { Hiring } from "./hiring.ts";
import { isOwnHire } from "./isOwnHire.ts";
import type { JournalEntry } from "./journal.ts";
import { createSellerClient } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** The result of a hire that was interrupted. */
export type ResumedHire = { jobId: string; hireId: Hex; escrow: EscrowOfHire | null } & (
  | { hire: HireResult }
  | { error: TallystickError; isOver: boolean; money: MoneyState }
);

/**
 * Called first without an outcome, and then when each hire is done, with its outcome if it has one. `left`: how many hires
 * are not done yet.
 */
export type OnOutcome = (outcome: ResumedHire | undefined, left: number) => void;

/**
 * The time limit for the look-up of a resumed hire, and the limit for judging and settling it after that, in
 * milliseconds.
 */
const LOOK_MS = 5_000;
const RESUME_MS = LOOK_MS + 2 * SETTLE_MS;

/** How long a result that was paid for is asked for again after it was due, in milliseconds. */
const STILL_COMES_MS = 86_400_000;

/** How many hires are resumed at the same time, so that a seller that hangs does not delay the others. */
const AT_ONCE = 8;

/**
 * Concludes the hires in the journal. Each is looked up at its seller, and judged by the check that it began with. This
 * check is the caller's own check, the seller's schemas of that time, or the standard's check. Then its money is
 * released or refunded, and it is reported to the ledger. If the seller does not finish a hire, the hire stays in the
 * journal until its payment can no longer be taken. Then the budget gets the amount back, because nothing was paid. If
 * a result had passed before and only its release did not get through, the money is released, whatever the seller
 * answers now. A hire with a key that was paid for, and whose result is not stored under its key, stays in the journal
 * until a day after its result was due while only a silent seller or a missing check is in the way. Hires that run in
 * this process are left alone. A hire that cannot be resumed is returned with an error, and stays in the journal.
 * Reports that wait for the ledger are sent too.
 *
 * @param verify the caller's own check, as it was given to `hire`. Without it, hires that had such a check wait,
 * because only this check may release their money. A hire whose result had passed before does not wait
 * @param onOutcome tells the progress, because many hires with silent sellers take long
 */
export async function resumeHires(
  context: BuyerContext,
  verify?: Verify,
  onOutcome?: OnOutcome,
): Promise<ResumedHire[]> {
  const outcomes: ResumedHire[] = [];
  const keys = await context.journal.keys("hire");
  let left = keys.length;
  onOutcome?.(undefined, left);
  while (keys.length > 0) {
    const resumed = keys.splice(0, AT_ONCE).map(async (key) => {
      const outcome = await resumeEntry(context, key, verify).catch((cause) =>
        notResumed(context, key, cause),
      );
      onOutcome?.(outcome, --left);
      return outcome;
    });
    for (const outcome of await Promise.all(resumed)) if (outcome) outcomes.push(outcome);
  }
  context.background.add(context.reports.flush());
  return outcomes;
}

/**
 * Concludes one hire, as {@link resumeHires} does for all. Returns undefined if the hire runs in this process, is
 * not in the journal, is another wallet's, has no signed payment, was paid on another chain, or is concluded already.
 */
export async function resumeHire(
  context: BuyerContext,
  jobId: string,
  verify?: Verify,
): Promise<ResumedHire | undefined> {
  return await resumeEntry(context, `hire/${jobId}`, verify);
}

async function resumeEntry(
  context: BuyerContext,
  key: string,
  verify: Verify | undefined,
): Promise<ResumedHire | undefined> {
  const entry = await context.journal.get<JournalEntry>(key);
  if (!entry || context.underWay.has(entry.jobId)) return undefined;
  if (!isOwnHire(context, entry)) return undefined;
  const { hireId, jobId, signed } = entry;
  if (!signed) {
    // The process that wanted to sign has sent nothing, and will send nothing.
    if (context.now() > entry.signsUntil)
      await book({ context, hireId, jobId }, { money: "none", book: "giveBack" });
    return undefined;
  }
  const payment = { ...signed, amount: BigInt(signed.amount) };
  context.underWay.add(jobId);
  const deadline = startDeadline(RESUME_MS);
  try {
    // A booked hire is in the journal only until its result is stored. To reserve its amount again would count it twice.
    const isBooked = entry.key !== undefined && (await context.kept.isSettled(entry.key, jobId));
    if (isBooked) await endInJournal(context, entry);
    if (isBooked && (await context.journal.get(key)) === undefined) return undefined;
    if (!isBooked) await context.budget?.recall?.(hireId, payment.amount);
    const resumed = await resumeOne(
      context,
      entry,
      payment,
      verify ?? context.verifiers.get(jobId),
      deadline,
    );
    if (entry.key === undefined || mayStillCome(entry, resumed, context.now())) return resumed;
    await keep(context, entry.key, resumed);
    await endIfSettled(context, entry.key, jobId);
    return resumed;
  } finally {
    deadline.end();
    context.underWay.delete(jobId);
  }
}

/**
 * Whether the result of a hire whose money is gone may still come: only this look did not get or judge it. The hire then
 * stays in the journal, also if this look has booked its money.
 */
function mayStillCome(entry: JournalEntry, resumed: ResumedHire, now: number): boolean {
  if (!("error" in resumed) || isFinal(resumed.error)) return false;
  const isGone = resumed.money === "paid" || resumed.money === "authorized";
  return isGone && now < entry.startedAt + maxLatencyOf(entry) + STILL_COMES_MS;
}

/** How long the buyer gives the seller for the result, in milliseconds. */
function maxLatencyOf({ request, listing }: JournalEntry): number {
  return request.max_latency_ms ?? listing.max_latency_ms;
}

/** The outcome of a hire that could not be resumed, for example because the budget's database does not answer. */
async function notResumed(
  { journal }: BuyerContext,
  key: string,
  cause: unknown,
): Promise<ResumedHire | undefined> {
  // An entry that cannot be read names no hire. The other hires must not wait for it.
  const entry = await journal.get<JournalEntry>(key).catch(() => undefined);
  if (!entry) return undefined;
  const { jobId, hireId, signed } = entry;
  const error =
    cause instanceof TallystickError
      ? cause
      : new TallystickError({
          code: "not_resumed",
          message: `The hire could not be resumed: ${cause instanceof Error ? cause.message : String(cause)}`,
          hint: "It stays in the journal. Resume it again.",
          cause,
        });
  return { jobId, hireId, escrow: null, error, isOver: false, money: signed ? "authorized" : "none" };
}

/**
 * Stores the end of a resumed hire under its idempotency key. Stores nothing while the money is open. A process that is
 * killed while it undoes a signature leaves a hire in the journal that its key no longer knows. Its payment was never sent,
 * so the key stays free for the next hire, or keeps the result of that one.
 */
async function keep({ kept }: BuyerContext, key: string, resumed: ResumedHire): Promise<void> {
  if (!(await kept.hasSigned(key, resumed.jobId))) return;
  if ("hire" in resumed) await kept.done(key, resumed.hire);
  else if (resumed.isOver && resumed.error instanceof HireFailedError) await kept.failed(key, resumed.error);
}

async function resumeOne(
  context: BuyerContext,
  entry: JournalEntry,
  payment: SignedPayment,
  verify: Verify | undefined,
  deadline: Deadline,
): Promise<ResumedHire> {
  const { jobId, hireId, listing, request, judge } = entry;
  const maxLatencyMs = maxLatencyOf(entry);
  const lookUntil = performance.now() + LOOK_MS;
  const hiring: Hiring = {
    context,
    candidate: { listing, price: parseUsdc(listing.price_usdc), reputation: {} },
    order: {
      params: request.params,
      maxPrice: BigInt(entry.maxPrice),
      maxLatencyMs,
      verify: judge === "caller" ? verify : undefined,
      deadline,
      telemetry: entry.telemetry,
    },
    ask: createSellerClient(listing, context.sellerFetch, deadline.signal),
    request,
    hireId,
    jobId,
    key: entry.key,
    startedAt: entry.startedAt,
    left: () => Math.max(0, lookUntil - performance.now()),
    schemas: typeof judge === "object" ? judge : undefined,
    sent: payment,
    isResumed: { isReported: entry.isReported ?? false, isGood: entry.isGood ?? false },
  };
  const mode = modeIn(context, listing.payment_mode);
  // The buyer took the hire's escrow off its list meanwhile. Its money comes back at the deadline, and no other
  // hire has to wait.
  if (mode instanceof NoSellerError) {
    return { jobId, hireId, escrow: null, error: mode, isOver: false, money: "authorized" };
  }
  const of = { jobId, hireId, escrow: mode.escrowOf?.(payment) ?? null };
  let error: HireFailedError;
  try {
    if (judge === "caller" && !verify) throw verifyNeeded(hiring, mode.whenSent);
    if (judge === "standard") await loadVerifier(hiring, mode.whenSent);
    const response = await lookUp(hiring, jobId, mode.whenSent);
    const judged = await abortable(judgeDelivery(hiring, response), deadline.signal);
    // An earlier result has passed and is stored. The new answer must not replace it.
    if (entry.isGood && !judged.verification.all_passed) throw otherResult(hiring, mode.whenSent);
    return { ...of, hire: await concludeHire(hiring, judged) };
  } catch (cause) {
    error = asFailure(hiring, cause, mode.whenSent);
  }
  // After the hire's time, or after a final answer of the seller, the buyer asks for its money back. Before that, the
  // next `resume` asks the seller again. If an earlier result has passed, the seller gets the money, whatever it
  // answers now.
  let { money } = error;
  const isDue = !WITHOUT_JUDGE.has(error.code) && context.now() >= entry.startedAt + maxLatencyMs;
  const end = entry.isGood
    ? releaseOf(mode, payment)
    : isDue || isFinal(error)
      ? mode.abandon(payment)
      : undefined;
  if (end) money = (await within(end, SETTLE_MS).catch(() => undefined)) ?? money;
  const ending = await within(mode.isOver(payment), SETTLE_MS).catch(() => undefined);
  if (!ending) return { ...of, error, isOver: false, money };
  await book(hiring, ending);
  return { ...of, error: withMoney(error, ending.money), isOver: true, money: ending.money };
}

/** The error of a hire that is over. It says where the money ended, and what to do then. */
function withMoney(error: HireFailedError, money: MoneyState): HireFailedError {
  const { code, message, seller, hireId, jobId, escrow, words, cause } = error;
  const hint = error.hint === MONEY_HINTS[error.money] ? MONEY_HINTS[money] : error.hint;
  return new HireFailedError({ code, message, hint, seller, hireId, jobId, escrow, words, cause, money });
}

/** Releases the money for a result that had passed before. Returns where the money is, if that is certain. */
async function releaseOf(mode: BuyerMode, payment: SignedPayment): Promise<MoneyState | undefined> {
  const { money, book } = await mode.conclude(payment, { all_passed: true, checks: {}, details: {} });
  if (book === "open") return undefined;
  return money === "released" ? "paid" : money;
}

/** Codes that say that this process cannot judge the result. They say nothing about the result itself. */
const WITHOUT_JUDGE: ReadonlySet<string> = new Set(["verify_needed", "capability_unavailable"]);

/** Whether the seller said that no result will come. */
function isFinal({ code }: TallystickError): boolean {
  return code !== "seller_timeout" && code !== "seller_unreachable" && !WITHOUT_JUDGE.has(code);
}

/**
 * Loads the verifier before the result arrives. Otherwise a failed download of the verifier would look like a
 * bad result.
 */
async function loadVerifier(hiring: Hiring, money: MoneyState): Promise<void> {
  try {
    await capabilityOf(hiring.candidate.listing.capability);
  } catch (cause) {
    const { code, message, hint } = cause as TallystickError;
    throw failed(hiring, { code, message, hint, money, cause });
  }
}

function asFailure(hiring: Hiring, cause: unknown, money: MoneyState): HireFailedError {
  if (cause instanceof HireFailedError) return cause;
  if (!(cause instanceof DeadlineError)) throw cause;
  return failed(hiring, { code: "seller_timeout", message: cause.message, money, cause });
}

function verifyNeeded(hiring: Hiring, money: MoneyState): HireFailedError {
  return failed(hiring, {
    code: "verify_needed",
    message: "The caller of this hire gave its own check.",
    hint: "Give `resume` the same `verify`.",
    money,
  });
}

function otherResult(hiring: Hiring, money: MoneyState): HireFailedError {
  return failed(hiring, {
    code: "garbage_answer",
    message: "The seller's answer is not the result that passed before.",
    money,
  });
}

function modeIn(context: BuyerContext, paymentMode: string): BuyerMode | NoSellerError {
  try {
    return context.modeOf(paymentMode);
  } catch (error) {
    if (error instanceof NoSellerError) return error;
    throw error;
  }
}
