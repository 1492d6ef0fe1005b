import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import type { Log } from "tallystick-runtime/stderrLog";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { causeOf } from "../ledger/ledgerGate.ts";
import type { SharedStore } from "./sharedStore.ts";
import { storeUnavailable } from "./storeErrors.ts";
import { takeFlushes } from "./takeFlushes.ts";

/** Why a machine stands by: another machine writes, or there is a fault that its operator has to check. */
export type StandbyState = { reason: TallystickError };

export type WaitForTurnParameters = {
  ledger: DiskLedger;
  store: SharedStore;
  leaseMs: number;
  log: Log;
  /** Called with the reason after every attempt that did not succeed. */
  onState: (state: StandbyState) => void;
  /** Whether this process could write if it had the lease. It answers by what is known without the lease. */
  isAble: () => Promise<boolean>;
  /** Ends the waiting. */
  signal: AbortSignal;
};

/** Longest time between two looks, in milliseconds. */
const LOOK_MS = 1_000;

/** Longest time between two questions whether this process could write, in milliseconds. */
const ABLE_MS = 10_000;

/**
 * Follows the shared store until this process may write: the ledger's file has all that is committed, and the
 * lease is this process's. While the store does not answer, or contradicts the file, it tries again and again and
 * takes nothing.
 *
 * @throws TallystickError when the ledger's own disk fails; an AbortError when the signal ends it
 */
export async function waitForTurn(parameters: WaitForTurnParameters): Promise<void> {
  const { ledger, store, leaseMs, log, onState, signal } = parameters;
  const isAble = lastAnswerOf(parameters.isAble, Math.min(ABLE_MS, leaseMs));
  let said: string | undefined;
  const wait = (reason: TallystickError): void => {
    onState({ reason });
    if (said === reason.code) return;
    said = reason.code;
    const { code, message, hint } = reason;
    log("This machine stands by.", { code, reason: message, hint, ...causeOf(reason) });
  };
  for (;;) {
    signal.throwIfAborted();
    try {
      if (await tryTurn(ledger, store)) {
        if (said !== undefined) log("This machine takes over.", { size: ledger.size });
        return;
      }
      wait(standsBy());
      await store.standBy(isAble());
    } catch (error) {
      if (error instanceof TallystickError && !error.code.startsWith("store_")) throw error;
      wait(error instanceof TallystickError ? error : storeUnavailable(error));
    }
    await sleep(Math.min(LOOK_MS, leaseMs / 4), undefined, { signal });
  }
}

/**
 * Makes a function that returns the last answer to a question, without waiting. It asks the question again from time to
 * time. Before the first answer it returns false.
 */
function lastAnswerOf(question: () => Promise<boolean>, everyMs: number): () => boolean {
  let answer = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - askedAt >= everyMs) {
      askedAt = performance.now();
      question().then(
        (yes) => {
          answer = yes;
        },
        () => {
          answer = false;
        },
      );
    }
    return answer;
  };
}

/** Takes the new entries. Then takes the lease, if it is free. Then takes the entries that came meanwhile. */
async function tryTurn(ledger: DiskLedger, store: SharedStore): Promise<boolean> {
  await takeFlushes(ledger, store);
  if (!(await store.lease())) return false;
  try {
    await takeFlushes(ledger, store);
    return true;
  } catch (error) {
    // Another machine may be able to write.
    await store.release().catch(() => {});
    throw error;
  }
}

function standsBy(): TallystickError {
  return new TallystickError({
    code: "standby",
    message: "Another machine writes this ledger; this one stands by.",
    hint: "Send the request to that machine. This machine takes over when the other one is silent for LEDGER_LEASE_SECONDS.",
  });
}
