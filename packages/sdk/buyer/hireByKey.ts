import { TallystickError } from "tallystick-protocol/errors";
import { isHex } from "tallystick-protocol/hex";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import { abortable, within } from "../deadline.ts";
import { HireFailedError } from "../errors.ts";
import type { HireParameters } from "../hireParameters.ts";
import { type JobLease, LeaseLostError } from "../store/jobLeases.ts";
import type { BuyerContext } from "./buyerContext.ts";
import { endIfSettled } from "./endIfSettled.ts";
import type { HireResult } from "./hireResult.ts";
import type { KeyedOrder } from "./hiring.ts";
import { isOwnHire } from "./isOwnHire.ts";
import type { JournalEntry } from "./journal.ts";
import {
  isMoneyOpen,
  type KeptHire,
  type KeptState,
  revive,
  reviveFailure,
  type SignedHire,
} from "./keptHires.ts";
import { resumeHire } from "./resumeHires.ts";
import type { Verify } from "./verifyResult.ts";

/** How long a look-up of a hire waits for the entry of its receipt, in milliseconds. */
const RECEIPT_MS = 2_000;

type Start = (order: KeyedOrder) => Promise<HireResult>;
type Wanted = Omit<HireParameters, "signal" | "verify"> & { verify?: Verify; signal?: AbortSignal };

/**
 * Hires once for each idempotency key, even if it is called often and from several processes on one store. The same
 * key gives the same hire, its state, and its result. A hire for which nothing was signed may be tried again.
 *
 * @param untilMs how long the whole call may take. Only after this time may another process start the hire again
 * @throws TallystickError `idempotency_key_reused` when the key was used for something else; `hire_under_way` while
 * another process runs it
 */
export async function hireByKey(
  context: BuyerContext,
  wanted: Wanted,
  key: string,
  untilMs: number,
  start: Start,
): Promise<HireResult> {
  const asked = askedOf(wanted);
  const known = context.keyed.get(key);
  if (known) {
    requireSame(known.asked, asked, key);
    return again(await (wanted.signal ? abortable(known.hire, wanted.signal) : known.hire));
  }
  const hire = run(context, wanted, key, asked, untilMs, start);
  context.keyed.set(key, { asked, hire });
  try {
    return await hire;
  } finally {
    context.keyed.delete(key);
  }
}

/**
 * The state of the hire with this key, or undefined if the key is unknown. Resumes the hire if its money is open and
 * the hire does not run in this process.
 */
export async function findByKey(
  context: BuyerContext,
  key: string,
  verify?: Verify,
): Promise<{ kept: KeptHire; hire?: HireResult; error?: TallystickError } | undefined> {
  const kept = await context.kept.get(key);
  if (!kept) return undefined;
  if (context.keyed.has(key)) return { kept };
  if (kept.state === "running" || kept.state === "open") return { kept };
  try {
    return { kept, hire: await ended(context, kept, verify) };
  } catch (error) {
    if (error instanceof TallystickError) return { kept, error };
    throw error;
  }
}

async function run(
  context: BuyerContext,
  wanted: Wanted,
  key: string,
  asked: string,
  untilMs: number,
  start: Start,
): Promise<HireResult> {
  const { kept: keep, now } = context;
  /** What the store has of this key. @throws when the key belongs to another hire, or another process runs this hire */
  const look = async (): Promise<KeptHire | undefined> => {
    const kept = await keep.get(key);
    if (!kept) return undefined;
    requireSame(kept.asked, asked, key);
    // After `until`, the other process has ended without a result and without a payment. With a payment, it would have
    // stored the state `signed` before it sent the payment.
    if (kept.state === "running" && now() <= kept.until) throw underWay(key);
    return kept;
  };
  const before = await look();
  if (before && hasSigned(before)) return again(await ended(context, before, wanted.verify));
  const turn = await keep.take(key);
  if (!turn) throw underWay(key);
  try {
    // Another process may have run this hire since the first look.
    const kept = await look();
    if (kept && hasSigned(kept)) return again(await ended(context, kept, wanted.verify));
    const first: Pick<KeptHire, "startedAt" | "attempts" | "calls"> = { startedAt: now(), attempts: 0 };
    const { startedAt, attempts, calls = 0 } = kept ?? first;
    const until = now() + untilMs;
    const mine = { key, asked, startedAt, attempts, calls, state: "running" as const, until };
    if (kept) await keep.put(mine);
    else if (!(await keep.putNew(mine))) throw underWay(key);
    return await runInTurn(context, mine, turn, start);
  } finally {
    // If the turn cannot be ended now, it ends by itself after some time.
    await turn.end().catch(() => {});
  }
}

/**
 * Runs a hire, and stores how far it came. A process may be suspended so long that another process takes its turn.
 * Then the suspended process asks no further seller and signs nothing more.
 */
async function runInTurn(
  context: BuyerContext,
  mine: KeptHire & { state: "running" },
  turn: JobLease,
  start: Start,
): Promise<HireResult> {
  const { kept: keep } = context;
  const { key, asked, startedAt, calls: call = 0 } = mine;
  let { attempts } = mine;
  let calls = call;
  let signed: SignedHire | undefined;
  let isOver = false;
  const put = (state: KeptState): Promise<void> =>
    keep.put({ key, asked, startedAt, attempts, calls, ...state });
  const isHeld = async (): Promise<boolean> => {
    try {
      await turn.requireHeld();
      return true;
    } catch (error) {
      if (error instanceof LeaseLostError) return false;
      throw error;
    }
  };
  const requireHeld = async (): Promise<void> => {
    if (!(await isHeld())) throw underWay(key);
  };
  const order: KeyedOrder = {
    key,
    nextNonce: async ({ agent_id: seller, payment_mode: mode }) => {
      await requireHeld();
      const isFirst = attempts++ === 0;
      calls = call + 1;
      const nonce = isFirst && isHex(key, 32) ? key : await keep.nonce(key, { seller, mode, call });
      await put({ state: "running", until: mine.until });
      return nonce;
    },
    signed: async ({ hireId, jobId, seller }) => {
      await requireHeld();
      signed = { hireId, jobId, seller };
      await put({ state: "signed", ...signed });
    },
    unsigned: async () => {
      const undone = signed;
      signed = undefined;
      const kept = undone && (await keep.get(key));
      // This call may come late. Then the hire belongs to another call.
      if (kept?.state !== "signed" || kept.hireId !== undone?.hireId) return;
      await put(isOver ? { state: "open" } : { state: "running", until: mine.until });
    },
  };
  try {
    const hire = await start(order);
    // The caller gets the result even if it cannot be kept.
    if (signed || (await isHeld())) {
      const stored = keep.done(key, hire).then(() => endIfSettled(context, key, hire.jobId));
      await stored.catch(() => {});
    }
    return hire;
  } catch (error) {
    // While the money is open the state stays `signed`: the next call resumes it.
    isOver = true;
    const failed = error instanceof HireFailedError ? error : undefined;
    // The payment of a process whose records are lost may still be taken, so no later call pays for this key.
    if (failed && (signed ? isSettled(failed) : failed.code === "hired_before")) {
      const stored = keep.failed(key, failed).then(() => endIfSettled(context, key, failed.jobId));
      // The caller learns where the money is even if that cannot be kept.
      await stored.catch(() => {});
    } else if (!signed && (await isHeld())) await put({ state: "open" });
    throw error;
  }
}

/** Whether something was signed, so that this key never pays again. */
function hasSigned({ state }: KeptHire): boolean {
  return state === "signed" || state === "done" || state === "failed";
}

/** Whether the money of a failed hire is settled and cannot move any more. */
export function isSettled({ money }: HireFailedError): boolean {
  return money === "paid" || money === "refunded" || money === "none";
}

/**
 * Returns the result of a hire for which something was signed: from the store, or by resuming the hire.
 *
 * @throws HireFailedError of the failed hire, `result_lost` or `hire_elsewhere`; TallystickError `hire_under_way`
 */
async function ended(context: BuyerContext, kept: KeptHire, verify: Verify | undefined): Promise<HireResult> {
  if (kept.state === "done") return await withItsMoney(context, await withItsReceipt(context, kept), verify);
  if (kept.state === "failed") throw reviveFailure(kept);
  if (kept.state !== "signed") throw underWay(kept.key);
  const { hireId, jobId, seller, money = "authorized" } = kept;
  const lost = (code: string, message: string, hint: string) =>
    new HireFailedError({
      code,
      message,
      hint,
      seller: seller as HireFailedError["seller"],
      money,
      hireId,
      jobId,
    });
  const entry = await context.journal.get<JournalEntry>(`hire/${jobId}`);
  if (entry === undefined) {
    throw lost(
      "result_lost",
      "This hire was concluded, and its result was not kept.",
      "Nothing is paid again for this key. Look at the hire by its id; give another key for a new hire.",
    );
  }
  if (!isOwnHire(context, entry)) {
    throw lost(
      "hire_elsewhere",
      "This hire was paid by another wallet that shares the journal, or on another chain.",
      "Resume it with the settings that paid for it. For a new hire give another key.",
    );
  }
  const resumed = await resumeHire(context, jobId, verify);
  if (resumed === undefined) throw underWay(kept.key);
  if ("hire" in resumed) return resumed.hire;
  throw resumed.error;
}

/** For a result that came before its receipt was in the ledger: sends what is waiting, and looks again. */
async function withItsReceipt(
  { kept: keep, reports, journal }: BuyerContext,
  kept: KeptHire & { state: "done" },
): Promise<KeptHire & { state: "done" }> {
  const { receiptHash, jobId } = kept.hire;
  if (receiptHash !== null || (await journal.get(`report/${jobId}`)) === undefined) return kept;
  await within(reports.flush(), RECEIPT_MS).catch(() => {});
  const again = await keep.get(kept.key);
  return again?.state === "done" ? again : kept;
}

/** For a result that came while its money was open: looks where the money is now. */
async function withItsMoney(
  context: BuyerContext,
  kept: KeptHire & { state: "done" },
  verify: Verify | undefined,
): Promise<HireResult> {
  const hire = revive(kept);
  if (!isMoneyOpen(hire)) return hire;
  const resumed = await resumeHire(context, hire.jobId, verify);
  if (resumed === undefined) return hire;
  if ("hire" in resumed) return resumed.hire;
  return { ...hire, money: resumed.money };
}

/** Marks the result for a call after the first. */
function again(hire: HireResult): HireResult {
  return { ...hire, isRepeated: true };
}

/**
 * @throws TallystickError `idempotency_key_reused` when two calls with one key ask for different things: {@link
 * askedOf}
 */
export function requireSame(one: string, other: string, key: string): void {
  if (one === other) return;
  throw new TallystickError({
    code: "idempotency_key_reused",
    message: `The key ${key} was used for another hire.`,
    hint: "Give the same parameters as the first time, or another key.",
    field: "idempotencyKey",
  });
}

function underWay(key: string): TallystickError {
  return new TallystickError({
    code: "hire_under_way",
    message: `The hire with the key ${key} is under way in another process, or was until that process ended without storing a result.`,
    hint: "Call again with the same key a little later: it gives the same hire.",
  });
}

/**
 * A hash of everything that makes two hires different. It leaves out what only says how the caller waits, checks and
 * reports.
 */
export function askedOf(wanted: { [name: string]: unknown }): string {
  const { signal, verify, onProgress, deadlineMs, telemetry, idempotencyKey, maxAttempts, ...asked } = wanted;
  const { trustListing, ...rest } = asked;
  return jsonHash(rest, "params");
}
