import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { abortable, startDeadline } from "../deadline.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { createCarrier } from "./carryOut.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import type { EscrowRelay } from "./escrowRelay.ts";
import { openGasAccounts } from "./gasAccounts.ts";
import { createAdvances } from "./keeperAdvances.ts";
import { createKeeperBatches } from "./keeperBatches.ts";
import { openInstructionBook } from "./keeperInstructions.ts";
import { createTimeouts } from "./keeperTimeouts.ts";
import { requireWorth, type Worth } from "./keeperWorth.ts";
import { unwrapSignature } from "./wordOf.ts";

export type KeeperParameters = {
  calls: EscrowCalls;
  /** Remembers instructions until they are carried out: `fileStore(folder)`. */
  store: KeyValueStore;
  /** Which hires are relayed. Default: all whose amount is not zero. */
  worth?: Worth;
  /** The first block that may have a deposit. */
  startBlock?: bigint;
  /** Milliseconds between two rounds. Default 2,000. */
  roundMs?: number;
  /** Milliseconds that releases, refunds and timeouts may each take in a round; the rest is for the next. Default 60,000. */
  phaseMs?: number;
  /** Milliseconds until a batch that is not mined is looked at again. Default 150,000. */
  batchMs?: number;
  /** Items in one transaction. Default 50: about 4 million gas. */
  maxBatch?: number;
  /** Gas that the deposits and deliveries of a buyer may cost in a day before a fee was paid. Default 1,000,000. */
  gasPerBuyer?: number;
  /** Gas that words of a contract wallet may cost in a day when they fail. Default 200,000: one, as most wallets are. */
  gasPerWallet?: number;
  now?: () => number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** What a round is made of; none waits for another, nor fails with it. */
export type KeeperPhase = "releases" | "refunds" | "timeouts";

/** What a round did, and which of its parts could not be done in full. */
export type KeeperRound = {
  released: number;
  refunded: number;
  timedOut: number;
  waiting: number;
  failed: KeeperPhase[];
};

export type Keeper = {
  /** Relays a deposit. @throws ChainError `call_refused`; RelayRefusedError when it is not worth it, or has cost too much */
  deposit: EscrowRelay["deposit"];
  /** Relays the seller's mark of delivery. */
  markDelivered: EscrowRelay["markDelivered"];
  /**
   * Takes a buyer's release: tried off the chain, written down, and carried out with the others of its round.
   *
   * @throws ChainError `call_refused`: the contract would not do it; RelayRefusedError as for a deposit
   */
  release: (hire: Hire, signature: Hex) => Promise<void>;
  /** Takes a refund by buyer, seller or arbiter. */
  refund: (hire: Hire, signer: Address, signature: Hex) => Promise<void>;
  /** Carries out what is due now, and looks for deposits whose time is over. Does not throw. */
  round: () => Promise<KeeperRound>;
  /** Does a round every so often, until {@link Keeper.close}. */
  start: () => void;
  close: () => Promise<void>;
};

/**
 * Relays for a provider: releases and refunds in batches, and timeouts of whatever was deposited, all of which anybody may
 * do and somebody must. Instructions are on the disk before they are acknowledged, and leave it when the contract says that
 * the escrow is settled, so a keeper that is killed goes on where it was.
 *
 * What strangers can make it spend is bounded: by what a hire is worth, and by an account of gas for every buyer and every
 * contract wallet, which is on the disk as well.
 */
export function createKeeper(parameters: KeeperParameters): Keeper {
  const { calls, store, worth = {}, roundMs = 2_000, phaseMs = 60_000, maxBatch = 50 } = parameters;
  const { gasPerBuyer = 1_000_000, gasPerWallet = 200_000, now = Date.now, log = () => {} } = parameters;
  const { startBlock = 0n, batchMs } = parameters;
  const batches = createKeeperBatches(calls, batchMs);
  const { minAmount = 1n, fee } = worth;
  const timeouts = createTimeouts({ calls, store, batches, startBlock, maxBatch, minAmount, log });
  let running: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  async function openBooks() {
    const accounts = await openGasAccounts(store, now);
    const book = await openInstructionBook({ calls, store, accounts, log });
    const limits = { maxBatch, gasPerBuyer, gasPerWallet };
    const isPaid = (): boolean => fee !== undefined;
    const carrier = createCarrier({ calls, book, batches, accounts, isPaid, now, log, ...limits });
    return { book, carrier, advances: createAdvances({ calls, batches, accounts, ...limits }) };
  }
  let opened: ReturnType<typeof openBooks> | undefined;
  /** What is on the disk, read once; a disk that fails is asked again. */
  const books = (): ReturnType<typeof openBooks> => {
    opened ??= openBooks().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };

  async function roundNow(): Promise<KeeperRound> {
    const failed: KeeperPhase[] = [];
    const phase = async (part: KeeperPhase, work: PhaseWork): Promise<number> => {
      const { count, error } = await workFor(phaseMs, closing.signal, work);
      if (error !== undefined) {
        failed.push(part);
        log("A part of a round failed; the next round tries again.", { part, error: String(error) });
      }
      return count;
    };
    const [released, refunded, timedOut] = await Promise.all([
      phase("releases", async (...given) => (await books()).carrier.carryOut("release", ...given)),
      phase("refunds", async (...given) => (await books()).carrier.carryOut("refund", ...given)),
      phase("timeouts", timeouts.round),
    ]);
    const waiting = await books().then(
      ({ book }) => book.all().length,
      () => 0,
    );
    if (released + refunded + timedOut > 0) log("A round was carried out.", { released, refunded, timedOut });
    return { released, refunded, timedOut, waiting, failed };
  }

  const round = (): Promise<KeeperRound> => {
    const next = running.then(roundNow);
    running = next.catch(() => {});
    return next;
  };

  const rounds = scheduleRounds(round, roundMs, closing.signal);

  return {
    deposit: async (hire, authorization) => {
      requireWorth(hire, worth);
      const signature = unwrapSignature(authorization.signature);
      return await (await books()).advances.deposit(hire, { ...authorization, signature });
    },
    markDelivered: async (hire, resultHash = ZERO_HASH, signature) => {
      requireWorth(hire, worth);
      return await (await books()).advances.markDelivered(hire, resultHash, unwrapSignature(signature));
    },
    release: async (hire, signature) => {
      requireWorth(hire, worth);
      await (await books()).carrier.take("release", hire, hire.buyer, unwrapSignature(signature));
      rounds.soon();
    },
    refund: async (hire, signer, signature) => {
      requireWorth(hire, worth);
      await (await books()).carrier.take("refund", hire, signer, unwrapSignature(signature));
      rounds.soon();
    },
    round,
    start: rounds.start,
    close: async () => {
      closing.abort();
      rounds.stop();
      await running;
    },
  };
}

/** How long the first instruction of a batch waits for others, in milliseconds. */
const BATCH_WAIT_MS = 200;

type PhaseWork = (signal: AbortSignal, done: (count: number) => void) => Promise<void>;

/** What one part of a round does within its time, and what it failed with. */
async function workFor(
  milliseconds: number,
  closing: AbortSignal,
  work: PhaseWork,
): Promise<{ count: number; error?: unknown }> {
  let count = 0;
  const deadline = startDeadline(milliseconds);
  try {
    const worked = work(AbortSignal.any([deadline.signal, closing]), (done) => {
      count += done;
    });
    // It hears that its time is over; what it waits for then may still come, or fail.
    worked.catch(() => {});
    await abortable(worked, deadline.signal);
    return { count };
  } catch (error) {
    return { count, error };
  } finally {
    deadline.end();
  }
}

/** The next round: soon, when something has come, but never later for what comes meanwhile; and one at a time. */
function scheduleRounds(round: () => Promise<unknown>, roundMs: number, closing: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStarted = false;
  let isInRound = false;
  let isSoon = false;
  function schedule(soon: boolean): void {
    if (!isStarted || closing.aborted || isSoon) return;
    isSoon = soon;
    if (isInRound) return;
    clearTimeout(timer);
    timer = setTimeout(
      async () => {
        isSoon = false;
        isInRound = true;
        await round();
        isInRound = false;
        const again = isSoon;
        isSoon = false;
        schedule(again);
      },
      soon ? Math.min(roundMs, BATCH_WAIT_MS) : roundMs,
    );
  }

  return {
    start: () => {
      isStarted = true;
      schedule(true);
    },
    soon: () => schedule(true),
    stop: () => clearTimeout(timer),
  };
}
