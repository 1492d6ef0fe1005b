import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { within } from "../deadline.ts";
import { ChainError, RelayRefusedError } from "../errors.ts";
import { type BatchOutcome, GAS_EACH, GAS_EACH_CONTRACT, intrinsicGas, MAX_BATCH_GAS } from "./batch.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { failedGas } from "./failedGas.ts";
import { signaturesOf } from "./gasAccounts.ts";
import {
  createOutcomes,
  GAS_EACH_SMALL_CONTRACT,
  LATE,
  type OutcomesParameters,
} from "./instructionOutcomes.ts";
import { chunksOf, type KeeperBatches } from "./keeperBatches.ts";
import type { Instruction, InstructionKind } from "./keeperInstructions.ts";
import { createTurns, readEach } from "./keeperTurns.ts";
import type { TriedCall } from "./tryCall.ts";
import { whenKnown } from "./whenKnown.ts";

export type CarryOutParameters = OutcomesParameters & {
  calls: EscrowCalls;
  batches: KeeperBatches;
  maxBatch: number;
};

export type Carrier = ReturnType<typeof createCarrier>;

/**
 * Takes instructions and carries them out in batches. Instructions that keys signed go first and together,
 * because their cost is known. Instructions of contract wallets go in separate batches. Each of these is tried off
 * the chain first. It is sent only if its wallet's gas account has room for the gas that it needs.
 */
export function createCarrier(parameters: CarryOutParameters) {
  const { book, batches, maxBatch, now } = parameters;
  const outcomes = createOutcomes(parameters);
  const { setAside } = outcomes;
  /** The keys of the items that are in a batch, until the result of each is recorded. */
  const sending = new Set<string>();
  /** Wallets that may have burned gas before they were late. Their next items are sent alone, so that it is known. */
  const suspects = new Set<Address>();
  const send = createSending(parameters, outcomes, { sending, suspects });
  const { heldOf, goodOf } = createScreening(parameters.calls, outcomes);
  const turns = { release: createAllTurns(), refund: createAllTurns() };

  async function carryOut(
    kind: InstructionKind,
    signal: AbortSignal,
    done: (count: number) => void,
  ): Promise<void> {
    const faults: unknown[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      if (!signal.aborted) await work().catch((error: unknown) => faults.push(error));
    };
    const isFree = ({ key }: Instruction): boolean => !batches.isOnItsWay(key) && !sending.has(key);
    const due = book.all().filter((it) => it.kind === kind && it.notBefore <= now() && isFree(it));
    const signatures = new Map(due.map((it) => [it, it.signature]));
    /** Whether an item is still as this round first saw it. An item with a new signature waits for the next round. */
    const isDue = (it: Instruction): boolean =>
      book.find(it.key) === it && it.signature === signatures.get(it) && isFree(it);
    const sendAll = async (items: Instruction[], gasEach: bigint): Promise<void> => {
      const most = Math.min(maxBatch, Number(MAX_BATCH_GAS / (gasEach + 30_000n)));
      const isAlone = ({ tries, signer }: Instruction): boolean => tries > 0 || suspects.has(signer);
      const alone = items.filter(isAlone).map((it) => [it]);
      const together = chunksOf(
        items.filter((it) => !isAlone(it)),
        // A key's signature cannot burn gas, so this many items always fit.
        gasEach === GAS_EACH ? maxBatch : most,
      );
      for (const chunk of [...together, ...alone]) await attempt(() => send(chunk, gasEach, isDue, done));
    };
    const { ofKeys, settledOfWallets, unsettledOfWallets } = turns[kind];
    await attempt(() =>
      ofKeys(
        due.filter(({ byKey }) => byKey),
        {
          ...{ signal, most: maxBatch, look: (items) => heldOf(items, faults) },
          send: (held) => sendAll(held, GAS_EACH),
        },
      ),
    );
    const ofWallets = due.filter(({ byKey }) => !byKey);
    // A second look at settled items needs no gas. Items that a reorganization undid are carried out below.
    await attempt(() =>
      settledOfWallets(
        ofWallets.filter(({ settledAt }) => settledAt !== undefined),
        { signal, most: maxBatch, look: (items) => heldOf(items, faults), send: async () => {} },
      ),
    );
    const withRoom = ofWallets.filter(
      (it) => it.settledAt === undefined && (it.reservation !== undefined || setAside(it)),
    );
    await attempt(() =>
      unsettledOfWallets(withRoom, {
        ...{ signal, most: maxBatch },
        look: async (items) => await goodOf(await heldOf(items, faults), faults),
        send: async (good) => {
          for (const gasEach of [GAS_EACH_SMALL_CONTRACT, GAS_EACH_CONTRACT]) {
            await sendAll(
              good.filter(({ reservation }) => reservation?.gas === Number(gasEach)),
              gasEach,
            );
          }
        },
      }),
    );
    if (faults.length > 0) throw faults[0];
  }

  return {
    take: (kind: InstructionKind, hire: Hire, signer: Address, signature: Hex): Promise<void> =>
      take(parameters, kind, hire, signer, signature),
    carryOut,
  };
}

/** The turns of the instructions of one kind. */
function createAllTurns() {
  return {
    ofKeys: createTurns<Instruction>(),
    settledOfWallets: createTurns<Instruction>(),
    unsettledOfWallets: createTurns<Instruction>(),
  };
}

/** Sends the items of a batch, and records what became of each. */
function createSending(
  { book, batches, calls }: CarryOutParameters,
  { finish, onFailure, deleteNote }: ReturnType<typeof createOutcomes>,
  { sending, suspects }: { sending: Set<string>; suspects: Set<Address> },
) {
  return async function send(
    chunk: Instruction[],
    gasEach: bigint,
    isDue: (it: Instruction) => boolean,
    done: (count: number) => void,
  ): Promise<void> {
    // The gas at risk is stored before the batch is sent, so that a keeper that is killed in between still counts it.
    for (const it of chunk) if (it.reservation) await book.update(it);
    const items = chunk.filter(isDue);
    if (items.length === 0) return;
    for (const { key } of items) sending.add(key);
    try {
      await sendAndRecord(items, gasEach, done);
    } finally {
      for (const { key } of items) sending.delete(key);
    }
  };

  async function sendAndRecord(
    items: readonly Instruction[],
    gasEach: bigint,
    done: (count: number) => void,
  ): Promise<void> {
    const sent = items.map(({ signature, gasUsed, call, reservation }) => ({
      ...{ signature, gasUsed, call, reservation },
    }));
    const outcome = await batches.send(items, gasEach).catch(async (error: unknown) => {
      const isSure = error instanceof ChainError && error.neverSent;
      for (const it of items) {
        if (it.reservation === undefined) continue;
        if (isSure) await deleteNote(it);
        // The batch may still be mined, so its gas is remembered.
        else it.owed += it.reservation.gas;
      }
      throw error;
    });
    const { tried, failed } = outcome;
    const failures = new Set(failed.map(({ index }) => index));
    // Keys have no gas account: their signatures cannot burn gas.
    const isCharged = failed.length > 0 && items.some(({ reservation }) => reservation !== undefined);
    // What is done does not wait for the question after the gas of the rest.
    for (const [at, it] of items.entries()) {
      if (at >= tried || failures.has(at)) continue;
      suspects.delete(it.signer);
      await finish(it, it.kind === "release" ? "released" : "refunded");
      done(1);
    }
    const charges = isCharged ? await chargesOf(calls, sent, outcome, gasEach) : [];
    for (const { index: at, error } of failed) {
      const it = items[at];
      const { signature, reservation, gasUsed: triedGas = 0 } = sent[at] ?? {};
      if (it === undefined) continue;
      const gas = charges[at] ?? 0;
      // What an item burned is known only if it was alone. Among others only the sum is known.
      const isOwn = items.length === 1;
      if (isOwn) suspects.delete(it.signer);
      else if (error === LATE && gas > triedGas) suspects.add(it.signer);
      await onFailure(it, { signature, error, gas, triedGas, reservation, isOwn });
    }
  }
}

/** How long the question after the gas of a batch's good items may take, in milliseconds. */
const ASK_MS = 10_000;

/** The gas for which each item of a batch with failures is charged. */
async function chargesOf(
  calls: EscrowCalls,
  sent: readonly { gasUsed: number; call: Hex }[],
  { gasUsed, blockNumber, tried, failed }: BatchOutcome,
  gasEach: bigint,
): Promise<number[]> {
  const ends = new Map(
    failed.map(({ index, error }) => [index, error === LATE ? "late" : "failed"] as const),
  );
  const items = sent.slice(0, tried).map((it, at) => ({ ...it, end: ends.get(at) ?? ("done" as const) }));
  const good = items.filter(({ end }) => end === "done");
  let done = 0;
  if (good.length > 0) {
    const asked = calls.gasOfBatch(
      good.map(({ call }) => call),
      gasEach,
      blockNumber - 1n,
    );
    const found = await within(asked, ASK_MS).catch(() => undefined);
    // In its trial each item pays for what a batch does once. So all of them use about a quarter less in a batch.
    done = Number(found ?? (BigInt(good.reduce((sum, it) => sum + it.gasUsed, 0)) * 3n) / 4n);
  }
  const intrinsic = intrinsicGas(
    sent.map(({ call }) => call),
    gasEach,
  );
  return failedGas({ ...{ gasUsed: Number(gasUsed), gasEach: Number(gasEach) }, intrinsic, done, items });
}

/**
 * Finds, by the chain's state, the instructions that can be carried out now. Records what became of the other
 * instructions.
 */
function createScreening(calls: EscrowCalls, outcomes: ReturnType<typeof createOutcomes>) {
  const { setAside, seeHeld, seeSettled, lookLater, onRefused } = outcomes;

  /**
   * The items whose escrows are still held. The escrows of the others are settled, or the RPC does not know them
   * yet.
   */
  async function heldOf(items: readonly Instruction[], faults: unknown[]): Promise<Instruction[]> {
    const held: Instruction[] = [];
    for (const [it, { status }] of await readEach(items, ({ id }) => calls.state(id), faults)) {
      if (status === "held") {
        seeHeld(it);
        held.push(it);
      }
      // Perhaps the RPC is late, and does not know this escrow yet.
      else if (status === "none") await lookLater(it, "The escrow is not there.");
      else await seeSettled(it, status);
    }
    return held;
  }

  /** The items of contract wallets that would be carried out now, with the gas set aside for each. */
  async function goodOf(items: readonly Instruction[], faults: unknown[]): Promise<Instruction[]> {
    const good: Instruction[] = [];
    const signatures = new Map(items.map((it) => [it, it.signature]));
    const tried = await readEach(items, ({ call }) => tryWithGas(calls, call), faults);
    for (const [it, outcome] of tried) {
      if (it.signature !== signatures.get(it)) continue;
      const gas = Number(outcome.gas);
      it.gasUsed = Number(outcome.gasUsed);
      // The escrow was held a moment ago. Either somebody was faster, or this node of the RPC is behind: the next look says.
      if (outcome.error === LATE) await lookLater(it, outcome.error);
      else if (!outcome.done) await onRefused(it, outcome.error);
      else if (it.reservation?.gas === gas || setAside(it, gas)) good.push(it);
      else await lookLater(it, `needs ${gas} gas, for which its account has no room`);
    }
    return good;
  }

  return { heldOf, goodOf };
}

/**
 * Tries an instruction off the chain, and stores it. A batch with an older signature of it may be on its way. The gas of
 * that batch still counts, so the new signature takes the place of the old one in the same object.
 *
 * @throws ChainError `call_refused`; RelayRefusedError `gas_limit` when its wallet's gas account has no room
 */
async function take(
  { calls, book, accounts, gasPerWallet }: CarryOutParameters,
  kind: InstructionKind,
  hire: Hire,
  signer: Address,
  signature: Hex,
): Promise<void> {
  const it = book.read(kind, hire, signer, signature);
  const before = sameWaiting();
  if (before) return await book.stored(before);
  const gas = await tryNew(calls, it);
  if (!it.byKey) requireRoom(Number(gas));
  // The book may have changed during the trial.
  const meanwhile = sameWaiting();
  if (meanwhile) return await book.stored(meanwhile);
  const earlier = book.find(it.key);
  if (earlier === undefined) return await book.put(it);
  const { tries, reservation, owed, hasPaid } = earlier;
  await book.update(Object.assign(earlier, it, { tries, reservation, owed, hasPaid }));

  /** A waiting instruction that makes this one unnecessary: it has the same signature, or a key signed it. */
  function sameWaiting(): Instruction | undefined {
    const known = book.find(it.key);
    // If a client sends a settled instruction again, a reorganization may have undone it. If none has, the contract
    // refuses it in the trial.
    if (known === undefined || known.settledAt !== undefined) return undefined;
    return known.byKey || known.signature === signature ? known : undefined;
  }

  /** Refuses an instruction at once if no gas will be left for it, so that the client can send it itself. */
  function requireRoom(gas: number): void {
    if (accounts.roomOf(signaturesOf(signer), gasPerWallet) >= gas) return;
    throw new RelayRefusedError({
      code: "gas_limit",
      message: `This keeper may not spend ${gas} gas on the wallet ${signer} now.`,
      field: kind === "release" ? "hire.buyer" : "signer",
      secondsToWait: accounts.secondsToWait(signaturesOf(signer)),
    });
  }
}

/** Tries a new instruction off the chain, and returns the gas that its item gets. @throws ChainError `call_refused` */
function tryNew(calls: EscrowCalls, { kind, call, id, byKey }: Instruction): Promise<bigint> {
  return whenKnown(calls, id, async () => {
    const tried = byKey
      ? { ...(await calls.tryItem(call, GAS_EACH)), gas: GAS_EACH }
      : await tryWithGas(calls, call);
    if (!tried.done) throw refusal(kind, tried);
    return tried.gas;
  });
}

/** A trial, and the gas that the item gets. */
type TriedWithGas = TriedCall & { gas: bigint };

/**
 * Tries an item of a contract wallet with little gas, and with much gas if that is not enough. The gas that an item uses
 * does not show how much it needs: a payment that the token refuses becomes a credit only if much gas is left.
 */
async function tryWithGas(calls: EscrowCalls, call: Hex): Promise<TriedWithGas> {
  const gas = GAS_EACH_SMALL_CONTRACT;
  const tried = await calls.tryItem(call, gas);
  if (tried.done && (tried.gasUsed * 11n) / 10n <= gas) return { ...tried, gas };
  return { ...(await calls.tryItem(call, GAS_EACH_CONTRACT)), gas: GAS_EACH_CONTRACT };
}

/** The error for an instruction that the contract would refuse. */
export function refusal(what: string, { error }: TriedCall): ChainError {
  return new ChainError({
    code: "call_refused",
    message: `${what}: ${error ?? "it ran out of gas, or gave no reason"}`,
    hint: "Nothing was sent.",
    reason: error,
  });
}
