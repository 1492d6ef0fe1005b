import { TallystickError } from "tallystick-protocol/errors";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import { abortable } from "../deadline.ts";
import { HireFailedError } from "../errors.ts";
import type { HireParameters } from "../hireParameters.ts";
import type { BuyerContext } from "./buyerContext.ts";
import type { HireResult } from "./hireResult.ts";
import type { KeyedOrder } from "./hiring.ts";
import type { JournalEntry } from "./journal.ts";
import { type KeptHire, revive, reviveFailure } from "./keptHires.ts";
import { resumeHire } from "./resumeHires.ts";
import type { Verify } from "./verifyResult.ts";

type Start = (order: KeyedOrder) => Promise<HireResult>;
type Wanted = Omit<HireParameters, "signal" | "verify"> & { verify?: Verify; signal?: AbortSignal };

/**
 * Hires once for each idempotency key, even if it is called often and from several processes on one store. The same key
 * gives the same hire, its state, and its result. A hire for which nothing was signed may be tried again.
 *
 * @param untilMs how long the whole call may take: only after that does another process start over
 * @throws TallystickError `idempotency_key_reused` when the key was used for something else; `hire_under_way` while another
 * process runs it
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

/** The state of the hire with this key. Resumes it if its money is open and it does not run in this process. */
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
  const until = now() + untilMs;
  const first: KeptHire = { key, asked, startedAt: now(), attempts: 0, state: "running", until };
  let mine: KeptHire = first;
  if (!(await keep.putNew(first))) {
    const kept = await keep.get(key);
    if (!kept) throw underWay(key);
    requireSame(kept.asked, asked, key);
    if (kept.state === "signed" || kept.state === "done" || kept.state === "failed") {
      return again(await ended(context, kept, wanted.verify));
    }
    // The process that began it ended without a result, and it had not signed: a signature is written down
    // before a payment leaves.
    if (kept.state === "running" && now() <= kept.until) throw underWay(key);
    mine = { ...first, startedAt: kept.startedAt, attempts: kept.attempts };
    await keep.put(mine);
  }
  let attempts = mine.attempts;
  let isSigned = false;
  let isOver = false;
  const open = (): Promise<void> =>
    keep.put({ key, asked, startedAt: mine.startedAt, attempts, state: "open" });
  const order: KeyedOrder = {
    key,
    nextNonce: async () => {
      const nonce = await keep.nonce(key, attempts++);
      await keep.put({ ...mine, attempts });
      return nonce;
    },
    signed: async ({ hireId, jobId, seller }) => {
      isSigned = true;
      await keep.put({
        key,
        asked,
        startedAt: mine.startedAt,
        attempts,
        state: "signed",
        hireId,
        jobId,
        seller,
      });
    },
    unsigned: async () => {
      if (!isSigned) return;
      isSigned = false;
      await (isOver ? open() : keep.put({ ...mine, attempts }));
    },
  };
  try {
    const hire = await start(order);
    await keep.done(key, hire);
    return hire;
  } catch (error) {
    // While the money is open the state stays `signed`: the next call resumes it.
    isOver = true;
    if (!isSigned) await open();
    else if (error instanceof HireFailedError && isSettled(error)) await keep.failed(key, error);
    throw error;
  }
}

/** Whether the money of a failed hire is settled and cannot move any more. */
export function isSettled({ money }: HireFailedError): boolean {
  return money === "paid" || money === "refunded" || money === "none";
}

/** The end of a hire for which something was signed. */
async function ended(context: BuyerContext, kept: KeptHire, verify: Verify | undefined): Promise<HireResult> {
  if (kept.state === "done") return await withItsMoney(context, kept, verify);
  if (kept.state === "failed") throw reviveFailure(kept);
  if (kept.state !== "signed") throw underWay(kept.key);
  const { hireId, jobId, seller } = kept;
  const lost = (code: string, message: string, hint: string) =>
    new HireFailedError({
      code,
      message,
      hint,
      seller: seller as HireFailedError["seller"],
      money: "authorized",
      hireId,
      jobId,
    });
  if ((await context.journal.get<JournalEntry>(`hire/${jobId}`)) === undefined) {
    throw lost(
      "result_lost",
      "This hire was concluded, and its result was not kept.",
      "Nothing is paid again for this key. Look at the hire by its id; give another key for a new hire.",
    );
  }
  const resumed = await resumeHire(context, jobId, verify);
  if (resumed === undefined) throw underWay(kept.key);
  if ("hire" in resumed) return resumed.hire;
  throw resumed.error;
}

/** For a result that came while its money was open: looks where the money is now. */
async function withItsMoney(
  context: BuyerContext,
  kept: KeptHire & { state: "done" },
  verify: Verify | undefined,
): Promise<HireResult> {
  const hire = revive(kept);
  if (hire.money !== "held" && hire.money !== "authorized") return hire;
  const resumed = await resumeHire(context, hire.jobId, verify);
  if (resumed === undefined) return hire;
  if ("hire" in resumed) return resumed.hire;
  return { ...hire, money: resumed.money };
}

/** The result of a hire for a call after the first. */
function again(hire: HireResult): HireResult {
  return { ...hire, isRepeated: true };
}

function requireSame(one: string, other: string, key: string): void {
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

/** Everything that makes two hires different: all parameters except the time that the caller waits. */
export function askedOf(wanted: { [name: string]: unknown }): string {
  const { signal, verify, onProgress, deadlineMs, telemetry, idempotencyKey, maxAttempts, ...rest } = wanted;
  return jsonHash(rest, "params");
}
