import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { Flush } from "./flush.ts";
import type { HeldLine, SharedStore } from "./sharedStore.ts";
import {
  handedOver,
  leaseLost,
  outcomeUnknown,
  storeBehind,
  storeContradicts,
  storeUnavailable,
  takenOver,
} from "./storeErrors.ts";

/** First and longest wait before the store is asked again, in milliseconds. */
const [FIRST_MS, LONGEST_MS] = [50, 1_000];

/** The most held proposals that wait for the store at the same time. Each may be as long as two entries. */
const MOST_HELD = 32;

/** A machine that accepts entries without anchoring them does less harm than one that accepts none, so it has more time. */
const SILENT_TIMES = 3;

export type CommitterParameters = {
  store: Pick<SharedStore, "commit" | "lease" | "flushesFrom" | "handOver" | "putHeld" | "held">;
  leaseMs: number;
  /**
   * How long this machine keeps the lease although it cannot write and its stand-by can, in milliseconds. It keeps the
   * lease {@link SILENT_TIMES} as long if it writes and only its chain is silent.
   */
  handOverMs: number;
  /** The gate. It is closed while the store does not answer. */
  gate: LedgerGate;
  /** Called when another process has the lease, also because it was handed over. This process must end. */
  onLost: (error: TallystickError) => void;
  /** A clock that only goes forward, in milliseconds. */
  elapsedMs?: () => number;
};

/**
 * Commits each flush before the ledger writes it, stores held proposals, and keeps the lease. The row is the lock: a
 * process that finds its position taken stops. The lease only prevents the others from trying. If an answer is lost, it
 * is unknown whether the row was stored. So the same row is sent again, until the store says that it has this row, or
 * another one.
 */
export class Committer {
  readonly #parameters: CommitterParameters;
  readonly #elapsedMs: () => number;
  readonly #end = new AbortController();
  #leasedAt: number;
  /** How many held proposals wait for the store. */
  #holding = 0;
  /** Since when this machine cannot write, or can write but not anchor, for a reason of its own. */
  #refused: { canWrite: boolean; since: number } | undefined;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Construct this just after the lease was taken. */
  constructor(parameters: CommitterParameters) {
    this.#parameters = parameters;
    this.#elapsedMs = parameters.elapsedMs ?? (() => performance.now());
    this.#leasedAt = this.#elapsedMs();
    this.#later();
  }

  /**
   * Stores a flush at its position. Tries again while the store does not answer.
   *
   * @throws TallystickError `ledger_taken_over` when another flush is there, or another process has the lease;
   * `store_behind` when the store lost entries that are on disk; `store_unavailable` when this process ends before the flush
   * was sent. `outcome_unknown` with such an error as its cause, when the store perhaps has the flush
   */
  readonly commit = async (flush: Flush): Promise<void> => {
    const { store, leaseMs, gate } = this.#parameters;
    const outcome = await this.#answerTo({
      // A process that was stopped for a long time asks for the lease before it tries.
      before: async () => {
        if (this.#elapsedMs() - this.#leasedAt > leaseMs) await this.#renew();
      },
      send: async () => {
        const stored = await store.commit(flush);
        if (stored === "no_predecessor") throw await this.#lacksPredecessor(flush);
        return stored;
      },
      onAway: (reason) => gate.close("store", reason),
    });
    // The position takes one flush only, so the store does not have this one.
    if (outcome === "anothers") throw takenOver(flush.first);
    gate.open("store");
  };

  /**
   * Stores a held proposal. Tries again while the store does not answer, because the store perhaps has it.
   *
   * @throws TallystickError `ledger_taken_over` when another process has the lease, and the store does not have the
   * proposal; `store_unavailable` when too many wait already; `outcome_unknown` when this process ends, and the store
   * perhaps has it
   */
  readonly hold = async (held: HeldLine): Promise<void> => {
    const { store } = this.#parameters;
    if (this.#holding >= MOST_HELD) throw storeUnavailable(`${MOST_HELD} held proposals wait for it`);
    this.#holding++;
    const isHeld = await this.#answerTo({
      // Without the lease nothing is stored. But an earlier try, whose answer was lost, may have stored it.
      send: async () => (await store.putHeld(held)) || (await store.held(held.id)) !== undefined,
    }).finally(() => this.#holding--);
    // The next writer has read the held proposals already, so it would not show this one.
    if (!isHeld) throw leaseLost();
  };

  /** Sends something to the store until it answers. Its call may be made any number of times. */
  async #answerTo<T>(call: {
    before?: () => Promise<void>;
    send: () => Promise<T>;
    onAway?: (reason: TallystickError) => void;
  }): Promise<T> {
    /** Whether it was sent, and nobody knows whether the store has it. */
    let isOpen = false;
    const stopped = (error: TallystickError) => (isOpen ? outcomeUnknown(error) : error);
    for (let wait = FIRST_MS; ; wait = Math.min(LONGEST_MS, 2 * wait)) {
      let isSent = false;
      try {
        await call.before?.();
        isSent = true;
        return await call.send();
      } catch (error) {
        if (error instanceof TallystickError) throw stopped(error);
        isOpen ||= isSent;
        call.onAway?.(storeUnavailable(error));
        await sleep(wait, undefined, { signal: this.#end.signal }).catch(() => {});
        if (this.#end.signal.aborted) throw stopped(storeUnavailable(error));
      }
    }
  }

  async #lacksPredecessor({ first }: Flush): Promise<TallystickError> {
    const flushes = await this.#parameters.store.flushesFrom(first);
    const end = flushes.at(-1)?.next ?? 0;
    if (end > first) return takenOver(first);
    return end === first ? storeContradicts(first) : storeBehind(first, end);
  }

  #later(): void {
    if (this.#end.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renewOrWait();
    }, this.#parameters.leaseMs / 4).unref();
  }

  async #renewOrWait(): Promise<void> {
    const { gate, onLost } = this.#parameters;
    try {
      await this.#renew();
      gate.open("store");
      const reason = await this.#handOver();
      if (reason) return onLost(handedOver(reason));
    } catch (error) {
      if (this.#end.signal.aborted) return;
      if (error instanceof TallystickError) return onLost(error);
      gate.close("store", storeUnavailable(error));
    }
    this.#later();
  }

  /**
   * Hands the lease over if this machine could not write or could not reach its chain for a long time, and a waiting
   * machine can. Returns the reason. The row of a position stays the lock: a flush that is on its way is stored once,
   * or not at all.
   */
  async #handOver(): Promise<TallystickError | undefined> {
    const { gate, store, handOverMs } = this.#parameters;
    const canWrite = gate.refusal === undefined;
    const reason = canWrite ? gate.silence : gate.ownRefusal;
    if (reason === undefined) {
      this.#refused = undefined;
      return undefined;
    }
    // Each of the two cases has its own time limit, so the time starts again when one case becomes the other.
    if (this.#refused?.canWrite !== canWrite) this.#refused = { canWrite, since: this.#elapsedMs() };
    const patienceMs = canWrite ? SILENT_TIMES * handOverMs : handOverMs;
    if (this.#elapsedMs() - this.#refused.since < patienceMs) return undefined;
    return (await store.handOver()) ? reason : undefined;
  }

  async #renew(): Promise<void> {
    const asked = this.#elapsedMs();
    if (!(await this.#parameters.store.lease())) throw leaseLost();
    this.#leasedAt = asked;
  }

  /** Stops renewing the lease. A flush that the store has not accepted yet fails. */
  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#renewing;
  }
}
