// The thread of LedgerVerifier. It compares an index with its ledger once.
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { compareIndexes } from "./compareIndexes.ts";
import type { CompareMessage, CompareOrder } from "./ledgerVerifier.ts";

const { share, ...order } = workerData as CompareOrder;
const tell = (message: CompareMessage): void => parentPort?.postMessage(message);

/** The lowest priority, so that settlement goes first. */
const LOWEST = 19;
// On Linux this changes the priority of the calling thread. On other systems it would change the whole
// process.
if (process.platform === "linux") setPriority(LOWEST);

/** The shortest piece of work before a rest, in milliseconds. A timer is not more precise. */
const LEAST_WORK_MS = 5;
const TELL_EVERY_MS = 1_000;

let begun = performance.now();
let told = begun;
/** Rests in proportion to the work since the last rest. */
async function pace(): Promise<void> {
  const worked = performance.now() - begun;
  if (worked < LEAST_WORK_MS) return;
  if (share < 1) await pause(worked * (1 / share - 1));
  begun = performance.now();
}

function onProgress(entries: number): void {
  if (performance.now() - told < TELL_EVERY_MS) return;
  told = performance.now();
  tell({ kind: "progress", entries });
}

try {
  tell({ kind: "same", ...(await compareIndexes({ ...order, pace, onProgress })) });
} catch (error) {
  if (error instanceof LedgerLineError) tell({ kind: "line", line: error.line, reason: error.reason });
  else if (error instanceof TallystickError && error.code === "index_differs")
    tell({ kind: "differs", message: error.message, hint: error.hint ?? "" });
  else {
    // A thread's message keeps no other properties of an error.
    const { message, path } = Object(error) as NodeJS.ErrnoException;
    tell({ kind: "failed", reason: message ?? String(error), path });
  }
}
