import type { Verification } from "tallystick-capabilities/verification";
import { type StartedWorker, startWorker } from "./startWorker.ts";
import { runVerification, type VerificationJob } from "./verificationJob.ts";

export type VerifyApartOptions = {
  /** How long the checks of one result may take once they run, in milliseconds. Default 30,000. */
  timeoutMs?: number;
  /** The program of a worker; replaced in tests by one that never answers. */
  program?: URL;
  /** How workers are started; replaced in tests by a platform that has none. */
  start?: typeof startWorker;
};

const TIMEOUT_MS = 30_000;
/** How long a worker may take to start on a busy machine, in milliseconds. */
const START_MS = 60_000;
/** The most workers at a time. Further results wait. */
const MAX_WORKERS = 2;

type Reason = NonNullable<Verification["reason"]>;
const NAMES: { [reason in Reason]: string } = {
  took_too_long: "ended_in_time",
  took_too_much_memory: "kept_the_memory_limit",
};

let running = 0;
const waiting: (() => void)[] = [];
/** A worker that has verified something and is kept for the next result. It keeps no process alive. */
let spare: { worker: StartedWorker; listen: (listener: Listener) => void } | undefined;

type Listener = { message: (message: unknown) => void; ended: (reason: string) => void };

/**
 * Verifies a stranger's result in a worker of its own. The worker is ended when it takes too long or too much
 * memory, so no result can block the calling program. The verification then fails with the `reason`
 * `took_too_long` or `took_too_much_memory`. Where no worker can be started, the result is verified on this
 * thread; there too, every check takes time in proportion to the result.
 *
 * Throws what `verifyOutput` throws because of `capability` or `version`, never because of the result.
 */
export async function verifyApart(
  job: VerificationJob,
  options: VerifyApartOptions = {},
): Promise<Verification> {
  if (running >= MAX_WORKERS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await verifyInWorker(job, options);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

async function verifyInWorker(
  job: VerificationJob,
  { timeoutMs = TIMEOUT_MS, program, start = startWorker }: VerifyApartOptions,
): Promise<Verification> {
  const isOwn = program === undefined && start === startWorker;
  const kept = isOwn ? takeSpare() : undefined;
  const { worker, listen } = kept ?? open(start, program);
  if (!worker) return await runVerification(job);
  const { promise, resolve, reject } = Promise.withResolvers<Verification>();
  let hasStarted = kept !== undefined;
  // A worker that has not received the result cannot have ended because of it.
  const inPlace = (): void => resolve(runVerification(job));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const post = (): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => resolve(failure("took_too_long", `The checks took longer than ${timeoutMs} ms.`)),
      timeoutMs,
    );
    worker.post(job);
  };
  worker.hold(true);
  let isWhole = false;
  listen({
    message: (message) => {
      if (message === "ready") {
        hasStarted = true;
        try {
          post();
        } catch (error) {
          reject(error);
        }
        return;
      }
      const { verification, error, code } = Object(message) as {
        verification?: Verification;
        error?: string;
        code?: string;
      };
      isWhole = verification !== undefined;
      if (verification) resolve(verification);
      // A verifier's files are loaded separately. If one cannot be loaded, the result is not at fault.
      else if (code === "capability_unavailable") inPlace();
      else reject(new Error(error));
    },
    ended: (reason) => {
      if (!hasStarted) inPlace();
      else if (reason === "out_of_memory") {
        resolve(failure("took_too_much_memory", "The checks took too much memory."));
      } else reject(new Error(`The worker that verifies results ended: ${reason}`));
    },
  });
  try {
    if (kept) post();
    else timer ??= setTimeout(inPlace, START_MS);
    return await promise;
  } finally {
    clearTimeout(timer);
    listen({ message: () => undefined, ended: () => forget(worker) });
    worker.hold(false);
    if (isWhole && isOwn && !spare) spare = { worker, listen };
    else worker.end();
  }
}

function open(start: typeof startWorker, program: URL | undefined) {
  let listener: Listener | undefined;
  const early: unknown[] = [];
  const worker = start(
    {
      message: (message) => (listener ? listener.message(message) : early.push(message)),
      ended: (reason) => listener?.ended(reason),
    },
    program,
  );
  const listen = (next: Listener): void => {
    listener = next;
    for (const message of early.splice(0)) next.message(message);
  };
  return { worker, listen };
}

function takeSpare() {
  const taken = spare;
  spare = undefined;
  return taken;
}

function forget(worker: StartedWorker): void {
  if (spare?.worker === worker) spare = undefined;
}

function failure(reason: Reason, message: string): Verification {
  const name = NAMES[reason];
  return {
    all_passed: false,
    reason,
    checks: { [name]: false },
    details: { [name]: `${reason}: ${message}` },
  };
}
