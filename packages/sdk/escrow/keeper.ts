import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { abortable, startDeadline } from "../deadline.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { createCarrier } from "./carryOut.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import type { EscrowRelay } from "./escrowRelay.ts";
import { unwrapSignature } from "./escrowSignature.ts";
import { openGasAccounts } from "./gasAccounts.ts";
import { createAdvances } from "./keeperAdvances.ts";
import { createKeeperBatches } from "./keeperBatches.ts";
import { createKeeperHealth, type KeeperHealth } from "./keeperHealth.ts";
import { type InstructionBook, openInstructionBook } from "./keeperInstructions.ts";
import { createTimeouts } from "./keeperTimeouts.ts";
import { requireWorth, type Worth } from "./keeperWorth.ts";
import { openOwnDeposits } from "./ownDeposits.ts";
import { requireKeeperStore } from "./requireKeeperStore.ts";
import { unreachable } from "./tryCall.ts";

export type KeeperParameters = {
  calls: EscrowCalls;
  /** Remembers instructions until they are carried out: `fileStore(folder)`. Each escrow needs a store of its own. */
  store: KeyValueStore;
  /** Which hires are relayed. Default: all hires with an amount above zero. */
  worth?: Worth;
  /**
   * The token of which the escrow's amounts are. A keeper of an escrow of another token does nothing. Default: the token is
   * not looked at.
   */
  token?: Address;
  /** The first block that may have a deposit. */
  startBlock?: bigint;
  /** Milliseconds between two rounds. Default 2,000. */
  roundMs?: number;
  /**
   * Milliseconds that releases, refunds and timeouts may each take in a round. The rest waits for the next round.
   * Default 60,000.
   */
  phaseMs?: number;
  /** Milliseconds that a deposit or a mark of delivery waits until it is mined. Default 150,000. */
  batchMs?: number;
  /** Items in one transaction. Default 50: about 4 million gas. */
  maxBatch?: number;
  /**
   * Gas that a buyer's deposits and deliveries may cost in a day; in a month if it never paid a fee. Default
   * 1,000,000.
   */
  gasPerBuyer?: number;
  /**
   * Gas that failed signatures of a contract wallet may cost in a day. Default 200,000: one signature of most
   * wallets.
   */
  gasPerWallet?: number;
  now?: () => number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** The parts of a round. A part does not wait for another part, and does not fail with it. */
export type KeeperPhase = "releases" | "refunds" | "timeouts";

/** What a round did, and which of its parts were not completed. */
export type KeeperRound = {
  released: number;
  refunded: number;
  timedOut: number;
  waiting: number;
  failed: KeeperPhase[];
};

export type Keeper = {
  /**
   * Relays a deposit. @throws ChainError `call_refused`; RelayRefusedError when the hire is not worth the gas, or its
   * buyer has cost too much gas
   */
  deposit: EscrowRelay["deposit"];
  /** Relays the seller's mark of delivery. */
  markDelivered: EscrowRelay["markDelivered"];
  /**
   * Accepts a buyer's release: tries it off the chain and stores it. The next round carries it out together with
   * others.
   *
   * @throws ChainError `call_refused`: the contract would not do it; RelayRefusedError as for a deposit
   */
  release: (hire: Hire, signature: Hex) => Promise<void>;
  /** Accepts a refund by buyer, seller or arbiter. */
  refund: (hire: Hire, signer: Address, signature: Hex) => Promise<void>;
  /** Carries out what is due now, and looks for deposits past their deadline. Does not throw. */
  round: () => Promise<KeeperRound>;
  /** Whether the keeper can work: its store, its RPC and its escrow fit together, and its RPC answers now. Never throws. */
  health: () => Promise<KeeperHealth>;
  /** Does rounds at intervals, until {@link Keeper.close}. */
  start: () => void;
  /** Ends the rounds, and waits for the running round. */
  close: () => Promise<void>;
};

/**
 * Relays for a provider: releases and refunds in batches, and timeouts of all deposits. Anybody may do this, and
 * somebody must. Instructions are on disk before they are acknowledged. They and the deposits are deleted when the
 * contract has said twice, two minutes apart, that the escrow is settled. So a keeper that is killed continues where it
 * was. And if a reorganization undid its transaction, the keeper sends it again.
 *
 * Strangers can make it spend only a limited amount. It looks at the worth of a hire, and keeps a gas account for
 * every buyer and every contract wallet. These accounts are on disk too.
 */
export function createKeeper(parameters: KeeperParameters): Keeper {
  const { calls, store, worth = {}, roundMs = 2_000, phaseMs = 60_000, maxBatch = 50 } = parameters;
  const { gasPerBuyer = 1_000_000, gasPerWallet = 200_000, now = Date.now, log = () => {} } = parameters;
  const { startBlock = 0n, batchMs = 150_000 } = parameters;
  const batches = createKeeperBatches(calls);
  const { minAmount = 1n, fee } = worth;
  let running: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  const requireOwnEscrow = untilDone(() => requireEscrow(parameters));
  const ownDeposits = untilDone(() => openOwnDeposits(store, now));
  async function openBooks() {
    await requireOwnEscrow();
    await batches.open();
    const accounts = await openGasAccounts(store, now, { expectsFees: fee !== undefined, log });
    const book = await openInstructionBook({ calls, store, accounts, log });
    const limits = { maxBatch, gasPerBuyer, gasPerWallet };
    const isPaid = (): boolean => fee !== undefined;
    const carrier = createCarrier({ calls, book, batches, accounts, isPaid, now, log, ...limits });
    const own = await ownDeposits();
    return { book, carrier, advances: createAdvances({ calls, batches, accounts, own, batchMs, ...limits }) };
  }
  const books = untilDone(openBooks);

  const of = { calls, store, batches, startBlock, maxBatch, minAmount };
  const timeouts = createTimeouts({
    ...{ ...of, releasing: () => releasesIn(books()), now, log },
    onEnd: async (id) => (await ownDeposits()).forget(id),
  });

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
      phase("timeouts", async (...given) => {
        await requireOwnEscrow();
        await timeouts.round(...given);
      }),
    ]);
    const waiting = await books().then(
      ({ book }) => book.all().filter(({ settledAt }) => settledAt === undefined).length,
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
    health: createKeeperHealth({ requireAll: () => requireWorking(requireOwnEscrow, calls), now, log }),
    start: rounds.start,
    close: async () => {
      closing.abort();
      rounds.stop();
      await running;
    },
  };
}

/**
 * Requires that the store and the RPC are of the keeper's escrow, and the escrow of the keeper's token. Another chain, or
 * another escrow, knows none of the stored deposits and instructions, so the keeper would forget them.
 */
async function requireEscrow({ store, calls, token }: KeeperParameters): Promise<void> {
  await requireKeeperStore(store, calls.deployment);
  await calls.requireChain();
  if (token !== undefined) await calls.requireToken(token);
}

/** Requires that the keeper's escrow is right, which is asked once, and that its RPC answers now. */
async function requireWorking(requireOwnEscrow: () => Promise<void>, calls: EscrowCalls): Promise<void> {
  await requireOwnEscrow();
  await calls.head().catch((cause: unknown) => {
    throw unreachable("The chain could not be asked for its newest block.", cause);
  });
}

/**
 * The escrows with a release that waits, or whose end may still be undone by a reorganisation. If the disk fails, there is
 * no release that could be carried out.
 */
async function releasesIn(opened: Promise<{ book: InstructionBook }>): Promise<ReadonlySet<string>> {
  const all = await opened.then(
    ({ book }) => book.all(),
    () => [],
  );
  return new Set(all.filter(({ kind }) => kind === "release").map(({ id }) => id));
}

/** Does something once. If it fails, for example because the disk does, the next call tries again. */
function untilDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** How long the first instruction of a batch waits for others, in milliseconds. */
const BATCH_WAIT_MS = 200;

type PhaseWork = (signal: AbortSignal, done: (count: number) => void) => Promise<void>;

/** Runs one part of a round within its time, and returns its error if it failed. */
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
    // The part gets the signal that its time is over. The answer that it waits for may still arrive, or fail.
    worked.catch(() => {});
    await abortable(worked, deadline.signal);
    return { count };
  } catch (error) {
    return { count, error };
  } finally {
    deadline.end();
  }
}

/**
 * Plans the next round. It comes soon after an instruction arrives, and more instructions do not delay it.
 * Only one round runs at a time.
 */
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
