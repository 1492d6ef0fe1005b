import type { Verification } from "tallystick-capabilities/verification";
import { toWireVerification } from "tallystick-capabilities/verification";
import { TallystickError } from "tallystick-protocol/errors";
import { needsBuyerSignature } from "tallystick-protocol/hire/needsBuyerSignature";
import { jsonHash, paramsHash } from "tallystick-protocol/hire/paramsHash";
import { PROTOCOL } from "tallystick-protocol/hire/protocolVersion";
import { jsonText } from "tallystick-protocol/json/jsonText";
import type { Listing } from "tallystick-protocol/records/listing";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import { pause } from "../pause.ts";
import { ServiceError } from "../requestService.ts";
import { type JobLease, type JobLeases, LeaseLostError } from "../store/jobLeases.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { Handler } from "./handlers.ts";
import type { Job, JobStage, SettlementMode } from "./job.ts";
import { receiptBody, receiptSummary } from "./receiptBody.ts";
import type { ReceiptOutbox, SettledReceipt } from "./receiptOutbox.ts";
import { HireRefusedError, PaymentInvalidError } from "./sellerErrors.ts";

export type JobRunnerParameters = {
  account: LocalAccount;
  store: KeyValueStore;
  leases: JobLeases;
  network: PaymentNetwork;
  handlers: { [capability: string]: Handler };
  modeOf: (job: Job) => SettlementMode;
  listingOf: (job: Job) => Listing | undefined;
  verify: (job: Job, listing: Listing) => Promise<Verification>;
  outbox: ReceiptOutbox;
  /** How long the answer waits for its receipt to be settled, so that it can have the rating token; milliseconds. */
  receiptWaitMs: number;
  /** How long a receipt waits for its buyer's signature, if it needs one, in milliseconds. */
  countersignMs: number;
  /**
   * How long a job that did not end waits at least before any process continues it, in milliseconds. Reasons are an
   * uncertain payment, and an error of the store.
   */
  restMs: number;
  /** Keeps what an auditor may ask for, before the hire counts as done. */
  disclose: (job: Job) => Promise<void>;
  onEnd: (job: Job) => Promise<void>;
  /** Stores what the buyer has to be told, before the end of the job is stored. */
  beforeEnd: (job: Job) => Promise<void>;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
  /** Milliseconds since 1970. */
  now: () => number;
};

export type JobRunner = {
  /**
   * Runs a job to its end, and returns it: its stage says how it ended. If it cannot go on now although its payment may
   * have happened, the job is returned before its end. Rejects only if the store fails. In both cases the job is
   * continued later. A second call for the same job waits for the first. A job on which another process works is
   * returned as it is stored.
   */
  run: (job: Job) => Promise<Job>;
  /** The jobs that are running now. */
  running: () => number;
  /** Waits until these jobs have ended. */
  idle: () => Promise<void>;
};

/**
 * How often a collection with an unknown outcome is repeated within one run. The pause before the n-th repeat is n
 * times `COLLECT_RETRY_MS` milliseconds.
 */
const COLLECT_RETRIES = 2;
const COLLECT_RETRY_MS = 300;

/** The longest rest of a job between two runs, in milliseconds. */
const MOST_REST_MS = 3_600_000;

/**
 * How long a job is continued again and again, in milliseconds: from its `dueAt`, or from the start of this process if
 * that is later. After that it needs a person. It keeps its stage, and the next start of the seller tries it again.
 */
const CONTINUED_MS = 86_400_000;

/** Takes jobs from one stage to the next. A job is stored before each step that cannot be undone. */
export function createJobRunner(parameters: JobRunnerParameters): JobRunner {
  const { store, leases, log } = parameters;
  const startedAt = parameters.now();
  const running = new Map<string, Promise<Job>>();
  const held = new Map<string, JobLease>();

  async function save(job: Job, changes: Partial<Job>): Promise<Job> {
    const next = { ...job, ...changes };
    await held.get(job.id)?.requireHeld();
    // A process that ends between the two writes leaves a note, and the next process tells the buyer.
    if (isEnded(next.stage)) await parameters.beforeEnd(next);
    await store.put(`job/${job.id}`, next);
    return next;
  }

  const { step, fail } = createSteps(parameters, save);

  async function runNow(start: Job): Promise<Job> {
    const lease = await leases.take(start.id);
    if (!lease) return (await store.get<Job>(`job/${start.id}`)) ?? start;
    held.set(start.id, lease);
    let stored = start;
    try {
      stored = (await store.get<Job>(`job/${start.id}`)) ?? start;
      const job = await runHeld(stored);
      await letGo(job, lease, { ...parameters, startedAt });
      return job;
    } catch (error) {
      if (error instanceof LeaseLostError) return (await store.get<Job>(`job/${start.id}`)) ?? stored;
      // Without this, the lease would be renewed as long as this process lives, and nobody else could continue the
      // job.
      await lease.pause(restOf(stored, { ...parameters, startedAt })).catch(() => {});
      throw error;
    } finally {
      held.delete(start.id);
    }
  }

  async function runHeld(start: Job): Promise<Job> {
    let job = start;
    // Only this process can know that it has stored the stage `collecting` and has not collected yet. A job that was
    // found in this stage may have been collected before.
    let isFirst = false;
    for (let attempt = 0; !isEnded(job.stage); ) {
      try {
        const { stage } = job;
        job = await step(job, isFirst);
        isFirst = stage === "worked";
      } catch (error) {
        isFirst = false;
        if (error instanceof LeaseLostError) throw error;
        const stored = await store.get<Job>(`job/${job.id}`);
        if (stored && isFurther(stored, job)) {
          // Another process stored this job first, for example while one takes over from the other.
          job = stored;
          continue;
        }
        if (!mayBePaid(job, error)) {
          job = await fail(job, error);
          break;
        }
        log("A job could not go on.", { job: job.id, stage: job.stage, error: String(error) });
        // The job stays as it is. The next start, or the next search for unfinished jobs, continues it.
        if (++attempt > COLLECT_RETRIES) return job;
        await pause(COLLECT_RETRY_MS * attempt);
      }
    }
    await parameters
      .onEnd(job)
      .catch((error) =>
        log("The end of a job could not be reported to the buyer.", { error: String(error) }),
      );
    return job;
  }

  return {
    run: (job) => {
      const known = running.get(job.id);
      if (known) return known;
      const run = runNow(job).finally(() => running.delete(job.id));
      // If the buyer gave a callback address, nobody awaits this promise. Without this handler, an error of the disk
      // would end the process.
      run.catch((error) =>
        log("A job could not go on.", { job: job.id, stage: job.stage, error: String(error) }),
      );
      running.set(job.id, run);
      return run;
    },
    running: () => running.size,
    idle: async () => {
      await Promise.allSettled(running.values());
    },
  };
}

/** Gives a job's lease back after a run. */
async function letGo(
  job: Job,
  lease: JobLease,
  parameters: JobRunnerParameters & { startedAt: number },
): Promise<void> {
  if (isEnded(job.stage)) return await lease.end();
  // The money of a collected job is here for certain, so such a job is never put aside.
  const goesOn = job.stage === "collected" || overdueOf(job, parameters) <= CONTINUED_MS;
  if (goesOn) return await lease.pause(restOf(job, parameters));
  // The leases of a job that another process has taken over must stay: without them a third could take it too.
  await lease.requireHeld();
  // Without a lease, the search for unfinished jobs does not find it any more.
  await lease.end();
  parameters.log("A job is put aside, because it could not go on for a day. The next start tries it again.", {
    job: job.id,
    stage: job.stage,
  });
}

/**
 * How long a job is overdue in this process, in milliseconds. The time during which the seller was stopped does not
 * count, because after a long stop the chain or the facilitator may not be ready yet.
 */
function overdueOf({ dueAt }: Job, { now, startedAt }: { now: () => number; startedAt: number }): number {
  return now() - Math.max(dueAt, startedAt);
}

/**
 * A job rests for a quarter of the time by which it is overdue. So the rests become longer, and the attempts cost less.
 */
function restOf(job: Job, parameters: JobRunnerParameters & { startedAt: number }): number {
  return Math.max(parameters.restMs, Math.min(MOST_REST_MS, Math.round(overdueOf(job, parameters) / 4)));
}

/**
 * The action of each stage of a job, and the action when it fails.
 *
 * @param save stores a job
 */
function createSteps(
  parameters: JobRunnerParameters,
  save: (job: Job, changes: Partial<Job>) => Promise<Job>,
) {
  const { account, network, handlers, modeOf, listingOf, verify, outbox, now, log } = parameters;

  async function work(job: Job): Promise<Partial<Job>> {
    const handler = handlers[job.capability];
    const listing = listingOf(job);
    if (!handler || !listing) throw refused("not_offered", `${job.capability} is no longer offered.`);
    const left = job.dueAt - now();
    if (left <= 0) throw tooLate(job);
    const late = new AbortController();
    const { promise: isLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.abort(tooLate(job));
      reject(tooLate(job));
    }, left);
    try {
      const { capability, buyer, hireId } = job;
      const context = { capability, buyer, hireId, signal: late.signal };
      // The hash is made before the handler runs, because the handler may change the params. Params that cannot be
      // hashed must fail here: nothing is collected yet, and an escrow can still send the money back.
      const params = paramsHash(job.params);
      const result = await Promise.race([(async () => handler(job.params, context))(), isLate]);
      // The stored result is exactly the JSON that is sent, even if the handler returned something else, such
      // as a Date.
      const sent = JSON.parse(jsonText(result ?? null, "result")) as unknown;
      const hashes = { params, result: jsonHash(sent, "result") };
      return { result: sent, hashes, verification: await verify({ ...job, result: sent }, listing) };
    } finally {
      clearTimeout(timer);
    }
  }

  async function complete(job: Job): Promise<Job> {
    const listing = listingOf(job);
    if (!listing) throw refused("not_offered", `${job.capability} is no longer offered.`);
    const body = receiptBody(job, listing, network);
    const record = await signRecord({ type: "receipt", body, account });
    const answer = {
      protocol: job.protocol ?? PROTOCOL,
      job_id: job.id,
      hire_id: job.hireId,
      receipt: receiptSummary(body, job),
      result: job.result,
      verification: toWireVerification(job.verification as Verification),
      rating_token: null,
      receipt_hash: null,
      signed_receipt: { body, signer: record.signer, signature: record.signature },
    };
    await parameters.disclose(job);
    // The receipt is stored first. So every completed hire has a receipt that will reach the ledger.
    const waits = needsBuyerSignature(body);
    await outbox.add(job.id, record, waits ? now() + parameters.countersignMs : undefined);
    const done = await save(job, { stage: "completed", answer, request: undefined, listing: undefined });
    const settled = waits ? undefined : await within(outbox.submit(job.id), parameters.receiptWaitMs);
    return settled ? { ...done, answer: { ...answer, ...settledFields(settled) } } : done;
  }

  /** @param isFirst whether the money of this job was certainly never asked for before */
  async function step(job: Job, isFirst: boolean): Promise<Job> {
    switch (job.stage) {
      case "accepted":
        return await save(job, { ...(job.free ? {} : await modeOf(job).secure(job)), stage: "secured" });
      case "secured":
        return await save(job, { ...requireGood(job, await work(job)), stage: "worked" });
      case "worked":
        return await save(job, { stage: "collecting" });
      case "collecting": {
        const collected = job.free ? {} : await modeOf(job).collect(job, { isFirst });
        return await save(job, { ...collected, completedAt: now(), stage: "collected" });
      }
      default:
        return await complete(job);
    }
  }

  async function fail(job: Job, error: unknown): Promise<Job> {
    const failure = failureOf(error);
    if (failure.message !== Object(error).message)
      log("A job failed.", { job: job.id, error: error instanceof Error ? error.stack : error });
    if (!job.free && !(error instanceof PaymentInvalidError)) {
      await modeOf(job)
        .giveUp(job)
        .catch((cause) => log("The money of a failed job could not be sent back.", { error: String(cause) }));
    }
    return await save(job, { stage: "failed", failure });
  }

  return { step, fail };
}

/**
 * What a buyer is told about an error. The error of the chain, of its relay, or of a service that a handler asked may name
 * an address inside the seller's own network, or a URL with a key. So its text is only in the log.
 */
function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ChainError)
    return { code: error.code, message: "The seller cannot use the chain at the moment." };
  const isOurs = error instanceof TallystickError && !(error instanceof ServiceError);
  return isOurs
    ? { code: error.code, message: error.message }
    : { code: "handler_failed", message: "The work failed." };
}

/** Refuses to charge for work that fails the seller's own check, in modes in which the charge is final. */
function requireGood(job: Job, done: Partial<Job>): Partial<Job> {
  if (job.mode !== "direct" || job.free || done.verification?.all_passed) return done;
  throw new HireRefusedError({
    status: 500,
    code: "own_verification_failed",
    message: "The result did not pass the seller's own verification. It is not charged.",
    hint: "Hire somebody else.",
  });
}

function isFurther(stored: Job, job: Job): boolean {
  return stored.stage !== job.stage && ["collected", "completed"].includes(stored.stage);
}

/** Whether the buyer's money may be with the seller already, so that the job must not be called failed. */
function mayBePaid(job: Job, error: unknown): boolean {
  if (job.stage === "collected") return true;
  return job.stage === "collecting" && !job.free && !(error instanceof PaymentInvalidError);
}

/** The fields that an answer has once its receipt is in the ledger. */
export function settledFields({ hash, ratingTokens }: SettledReceipt) {
  return { receipt_hash: hash, rating_token: ratingTokens.buyer };
}

/** Whether a job with this stage is `completed` or `failed`. */
export function isEnded(stage: JobStage): boolean {
  return stage === "completed" || stage === "failed";
}

function refused(code: string, message: string): HireRefusedError {
  return new HireRefusedError({ status: 409, code, message });
}

function tooLate(job: Job): HireRefusedError {
  return new HireRefusedError({
    status: 504,
    code: "too_late",
    message: `The work was not done within ${job.dueAt - job.acceptedAt} ms. It is not charged.`,
    hint: "Hire again, with more time.",
  });
}
