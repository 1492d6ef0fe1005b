import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { Log } from "tallystick-runtime/stderrLog";
import { diskReason } from "../ledger/diskReason.ts";
import type { SignedHistory } from "../ledger/signedHistory.ts";
import type { AnchorContract } from "./anchorContract.ts";
import type { ChainWatch } from "./chainWatch.ts";
import { haltOf } from "./compareWithChain.ts";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";

/**
 * The state of anchoring: what the contract had when it was last read, and the last error since then, in our own words.
 * `failures` counts all failed rounds. `age` is in seconds, from the start of the last round that anchored
 * something or found everything anchored. `stale`: the age is more than twice the interval.
 */
export type AnchoringState = {
  size: number;
  seq: number;
  root: Hex | null;
  error: string | null;
  failures: number;
  age: number;
  stale: boolean;
};

/** The result of one round. */
export type AnchorRound =
  | { kind: "anchored"; oldSize: number; newSize: number; root: Hex; transaction: Hex }
  | { kind: "upToDate"; size: number };

export type AnchorerParameters = {
  contract: AnchorContract;
  /** Compares each answer of the chain with the ledger. */
  watch: Pick<ChainWatch, "seen">;
  /** Asked before anything is signed. */
  history: Pick<SignedHistory, "cover">;
  /** Called with the reason whenever the chain does not answer. */
  onSilence?: (reason: string) => void;
  /** Called with every answer of the chain, before it is compared. */
  onAnswer?: (onChain: LedgerOnChain) => void;
  /** Called with every answer of the chain that agrees with the ledger. */
  onCompared?: (onChain: LedgerOnChain) => Promise<void>;
  /** The verified tree over the entries on disk. */
  tree: MerkleTree;
  /** The size to anchor, by the witnesses' cosignatures. Default: everything. */
  sizeToAnchor?: (oldSize: number, size: number) => Promise<number>;
  /** Time between rounds, in milliseconds. */
  intervalMs: number;
  /** The number of new entries that starts a round early. */
  maxEntries: number;
  /** The most new entries of one anchor. Default {@link MAX_ANCHORED}. */
  maxAnchored?: number;
  /**
   * The wait after the first failed round, and the longest wait, in milliseconds. The wait doubles after each failed
   * round.
   */
  backoffMs?: { first: number; longest: number };
  log: Log;
  /** Whether writes wait for the chain, or the chain did not answer last time. Then the chain is asked more often. */
  isWaitedFor?: () => boolean;
  /** Called with every anchor that was mined. */
  onAnchored?: (anchor: { size: number; root: Hex; transaction: Hex }) => Promise<void>;
  /** A clock that only goes forward, in milliseconds. */
  elapsedMs?: () => number;
};

/**
 * The most new entries of one anchor. An indexer holds all entries of an anchor in memory, some 2.4 kB for each. A
 * ledger with more, such as one that was imported, is anchored in several rounds.
 */
const MAX_ANCHORED = 100_000;

/** The longest time between two rounds while writes wait for the chain, in milliseconds. */
const WAITED_FOR_MS = 5_000;

/**
 * Keeps the ledger's head on chain. Every round reads the contract's head and continues from there. So earlier events
 * do not matter: a restart, a reorganization that undid an anchor, a transaction of an earlier process, an RPC that did
 * not answer.
 */
export class Anchorer {
  readonly #parameters: AnchorerParameters;
  readonly #elapsedMs: () => number;
  #state: { size: number; seq: number; root: Hex | null; error: string | null } = {
    size: 0,
    seq: 0,
    root: null,
    error: null,
  };
  #running: Promise<void> | undefined;
  #stopped = false;
  /** Failed rounds in a row, and in total. */
  #failures = 0;
  #allFailures = 0;
  #wake: (() => void) | undefined;
  #upToDateAt: number;
  #saidStale = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(parameters: AnchorerParameters) {
    this.#parameters = parameters;
    this.#elapsedMs = parameters.elapsedMs ?? (() => performance.now());
    this.#upToDateAt = this.#elapsedMs();
  }

  get state(): AnchoringState {
    const age = (this.#elapsedMs() - this.#upToDateAt) / 1_000;
    const stale = age * 1_000 > 2 * this.#parameters.intervalMs;
    return { ...this.#state, failures: this.#allFailures, age, stale };
  }

  /** Starts the rounds, the first at once. */
  start(): void {
    this.#running ??= this.#run();
    this.#watch ??= setInterval(() => this.#sayWhenStale(), this.#parameters.intervalMs).unref();
  }

  /**
   * Reports once that the anchor is too old, and once that it is fresh again. This works even while a round
   * hangs.
   */
  #sayWhenStale(): void {
    const { log, tree } = this.#parameters;
    const { stale, age, size, error } = this.state;
    if (stale === this.#saidStale) return;
    this.#saidStale = stale;
    const fields = {
      ageSeconds: Math.round(age),
      anchored: size,
      onDisk: tree.size,
      ...(error && { reason: error }),
    };
    log(stale ? "The anchor is older than twice its interval." : "The anchor is up to date again.", fields);
  }

  /**
   * Call this when the tree has grown. If there are enough new entries, a round starts early, unless rounds
   * are failing.
   */
  grown(): void {
    if (this.#failures === 0 && this.#isDue()) this.#wake?.();
  }

  /** Ends the rounds. Resolves when no round is running. A transaction that was sent stays valid. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#watch);
    this.#wake?.();
    await this.#running;
  }

  /**
   * Reads the contract and compares the ledger with it. Sends nothing.
   *
   * @throws TallystickError as {@link ChainWatch.seen}. Errors of the RPC come through as they are.
   */
  async look(): Promise<LedgerOnChain> {
    const { contract, watch, onSilence, onAnswer, onCompared } = this.#parameters;
    const onChain = await contract.read().catch((error) => {
      onSilence?.(reasonOf(error));
      throw error;
    });
    onAnswer?.(onChain);
    const head = onChain.ledger?.head;
    this.#state.size = Number(head?.size ?? 0n);
    this.#state.seq = Number(head?.seq ?? 0n);
    this.#state.root = head?.root ?? null;
    watch.seen(onChain);
    await onCompared?.(onChain);
    return onChain;
  }

  /** Starts the next round now. */
  wake(): void {
    this.#wake?.();
  }

  /**
   * One round: opens the ledger if it is not open, and anchors the new entries. Sends at most one anchor.
   *
   * @throws TallystickError as {@link ChainWatch.seen} when chain and disk contradict each other, and as {@link
   * SignedHistory.cover} when disk and signed heads contradict each other. Then it sends nothing. Errors of the RPC and
   * the contract are passed on unchanged.
   */
  async anchorOnce(): Promise<AnchorRound> {
    const { contract, tree, history, onAnchored, sizeToAnchor } = this.#parameters;
    const { maxAnchored = MAX_ANCHORED } = this.#parameters;
    const asOf = this.#elapsedMs();
    let onChain = await this.look();
    if (onChain.ledger === undefined) {
      await contract.open();
      onChain = await this.look();
      if (onChain.ledger === undefined) {
        throw new TallystickError({
          code: "not_open",
          message: "The ledger was opened, but the chain does not show it.",
        });
      }
    }
    const { head } = onChain.ledger;
    const oldSize = Number(head.size);
    const size = tree.size;
    if (oldSize === size) {
      this.#upToDateAt = asOf;
      return { kind: "upToDate", size };
    }

    // This check comes first, because an anchor that cannot be sent must not be signed.
    const halt = haltOf(onChain);
    if (halt) throw halt;
    const newSize = Math.min((await sizeToAnchor?.(oldSize, size)) ?? size, oldSize + maxAnchored);
    const root = toHex(tree.root(newSize));
    const proof = tree.consistencyProof(oldSize, newSize).map(toHex);
    await history.cover(newSize);
    const transaction = await contract.anchor({ seq: head.seq + 1n, size: BigInt(newSize), root, proof });
    this.#state = { ...this.#state, size: newSize, seq: this.#state.seq + 1, root };
    this.#upToDateAt = asOf;
    await onAnchored?.({ size: newSize, root, transaction });
    // This call compares the new anchor at once. So the writer's signature for it does not wait for the next
    // round. If the call fails, the next round reports why.
    await this.look().catch(() => {});
    return { kind: "anchored", oldSize, newSize, root, transaction };
  }

  async #run(): Promise<void> {
    const { intervalMs, backoffMs = { first: 1_000, longest: 60_000 }, log, isWaitedFor } = this.#parameters;
    while (!this.#stopped) {
      let wait = intervalMs;
      try {
        const round = await this.anchorOnce();
        if (round.kind === "anchored") log("Anchored the ledger.", { ...round, kind: undefined });
        else if (this.#failures > 0) log("Anchoring works again.", { size: round.size });
        this.#failures = 0;
        this.#state.error = null;
        this.#sayWhenStale();
      } catch (error) {
        wait = Math.min(backoffMs.longest, backoffMs.first * 2 ** Math.min(this.#failures, 20));
        this.#failures++;
        this.#allFailures++;
        this.#state.error = publicReasonOf(error);
        const hint = error instanceof TallystickError ? error.hint : undefined;
        log("Anchoring failed; trying again.", {
          reason: reasonOf(error),
          ...(hint && { hint }),
          waitMs: wait,
        });
      }
      if (isWaitedFor?.()) wait = Math.min(wait, WAITED_FOR_MS);
      if (!this.#stopped && !(this.#failures === 0 && this.#isDue())) await this.#sleep(wait);
    }
  }

  /** Whether enough entries wait to start the next round now. */
  #isDue(): boolean {
    return this.#parameters.tree.size - this.#state.size >= this.#parameters.maxEntries;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const wake = done;
      this.#wake = wake;
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
    });
  }
}

/**
 * A short sentence that says what went wrong. viem's errors have a short message, other errors only a
 * message.
 */
function reasonOf(error: unknown): string {
  if (error instanceof Error && "shortMessage" in error && typeof error.shortMessage === "string") {
    return error.shortMessage.replaceAll("\n", " ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** The reason for strangers: `GET /health` shows it. The words of an RPC and of a signing command are only in the log. */
function publicReasonOf(error: unknown): string {
  if (isOfTheDisk(error)) return `The disk failed: ${diskReason(error)}.`;
  if (!(error instanceof TallystickError)) return "The chain gave no answer, or refused the transaction.";
  return error.code === "signer_failed" ? "The signing command gave no signature." : error.message;
}

/** Before an anchor, what is signed is written down. */
function isOfTheDisk(error: unknown): boolean {
  const { code, path } = Object(error) as NodeJS.ErrnoException;
  return path !== undefined || ["ENOSPC", "EDQUOT", "EROFS", "EIO"].includes(String(code));
}
