import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { ChainError, RelayRefusedError } from "../errors.ts";
import { GAS_EACH, GAS_EACH_CONTRACT, MAX_BATCH_GAS } from "./batch.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { advancesOf, type GasAccounts, wordsOf } from "./gasAccounts.ts";
import { chunksOf, type KeeperBatches } from "./keeperBatches.ts";
import type { Instruction, InstructionBook, InstructionKind } from "./keeperInstructions.ts";
import type { EscrowState } from "./readEscrowState.ts";
import type { TriedCall } from "./tryCall.ts";

/** Gas for an item in which a usual contract wallet verifies: the most that a word of a wallet nobody knows may cost. */
export const GAS_EACH_SMALL_CONTRACT = 150_000n;

/** How often an item may fail on the chain: once with others, and once more alone. */
const MOST_TRIES = 2;

/** How often a wallet may say no, or an escrow be unknown, until nobody asks any more; each time is twice as late. */
const MOST_LOOKS = 8;
const LOOK_MS = 5_000;

/** What every transaction costs. */
const TRANSACTION_GAS = 21_000;

/** Questions to the chain at one time. */
const AT_ONCE = 16;

/** The contract's errors after which the same words can never be good. */
const FOR_GOOD = new Set(["WrongStatus", "NotAParty", "NotAuthorized"]);

export type CarryOutParameters = {
  calls: EscrowCalls;
  book: InstructionBook;
  batches: KeeperBatches;
  accounts: GasAccounts;
  maxBatch: number;
  /** Gas that the words of one contract wallet may cost in a window. */
  gasPerWallet: number;
  /** Whether a hire's release pays for what the hire cost. */
  isPaid: (hire: Hire) => boolean;
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

export type Carrier = ReturnType<typeof createCarrier>;

/**
 * Takes instructions and carries them out in batches. Those by key go first and together: what they cost is known. Those
 * that ask a contract wallet go apart, each tried off the chain before it is sent, with gas that its account has room for.
 */
export function createCarrier(parameters: CarryOutParameters) {
  const { calls, book, batches, accounts, maxBatch, gasPerWallet, isPaid, now, log } = parameters;

  async function take(kind: InstructionKind, hire: Hire, signer: Address, signature: Hex): Promise<void> {
    const it = book.read(kind, hire, signer, signature);
    const earlier = book.find(it.key);
    if (earlier && (earlier.byKey || earlier.signature === signature)) return;
    const tried = await calls.tryItem(it.call, it.byKey ? GAS_EACH : GAS_EACH_CONTRACT);
    if (!tried.done) throw refusal(kind, tried);
    if (!it.byKey) requireRoom(signer, Number(gasFor(tried)), kind === "release" ? "hire.buyer" : "signer");
    await book.put({
      ...it,
      tries: earlier?.tries ?? 0,
      reservation: earlier?.reservation,
      owed: earlier?.owed ?? 0,
    });
  }

  /** Says no at the door to what there will be no gas for, so that whoever brings it can send it itself. */
  function requireRoom(wallet: Address, gas: number, field: string): void {
    if (accounts.roomOf(wordsOf(wallet), gasPerWallet) >= gas) return;
    throw new RelayRefusedError({
      code: "gas_limit",
      message: `The wallet ${wallet} may cost this keeper no ${gas} gas now.`,
      field,
      secondsToWait: accounts.secondsToWait(wordsOf(wallet)),
    });
  }

  async function carryOut(
    kind: InstructionKind,
    signal: AbortSignal,
    done: (count: number) => void,
  ): Promise<void> {
    const faults: unknown[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      if (!signal.aborted) await work().catch((error: unknown) => faults.push(error));
    };
    const due = book
      .all()
      .filter((it) => it.kind === kind && it.notBefore <= now() && !batches.isOnItsWay(it.key));
    const sendAll = async (items: Instruction[], gasEach: bigint): Promise<void> => {
      const most = Math.min(maxBatch, Number(MAX_BATCH_GAS / (gasEach + 30_000n)));
      const alone = items.filter(({ tries }) => tries > 0).map((it) => [it]);
      const together = chunksOf(
        items.filter(({ tries }) => tries === 0),
        // By key nothing burns its gas: so many fit, whatever each is allowed.
        gasEach === GAS_EACH ? maxBatch : most,
      );
      for (const chunk of [...together, ...alone]) await attempt(() => send(chunk, gasEach, done));
    };
    await attempt(async () =>
      sendAll(
        await heldOf(
          due.filter(({ byKey }) => byKey),
          signal,
        ),
        GAS_EACH,
      ),
    );
    const withRoom = due.filter((it) => !it.byKey && (it.reservation !== undefined || setAside(it)));
    await attempt(async () => {
      const good = await goodOf(await heldOf(withRoom, signal), signal);
      for (const gasEach of [GAS_EACH_SMALL_CONTRACT, GAS_EACH_CONTRACT]) {
        await sendAll(
          good.filter(({ reservation }) => reservation?.gas === Number(gasEach)),
          gasEach,
        );
      }
    });
    if (faults.length > 0) throw faults[0];
  }

  /** Sets gas aside for an item, or puts it off until its account may have room. */
  function setAside(it: Instruction, gas = Number(GAS_EACH_SMALL_CONTRACT)): boolean {
    it.reservation?.giveBack();
    it.reservation = accounts.reserve(wordsOf(it.signer), gas, gasPerWallet);
    // What others of the account have set aside may come back soon; what is lost comes back when its window ends.
    if (it.reservation === undefined) it.notBefore = now() + LOOK_MS;
    return it.reservation !== undefined;
  }

  /** The items whose escrows are held. Settled ones are done, by whomever. */
  async function heldOf(items: readonly Instruction[], signal: AbortSignal): Promise<Instruction[]> {
    const held: Instruction[] = [];
    for (const chunk of chunksOf(items, AT_ONCE)) {
      if (signal.aborted) break;
      const states = await Promise.all(chunk.map(({ id }) => calls.state(id)));
      for (const [at, it] of chunk.entries()) {
        const status = states[at]?.status ?? "none";
        if (status === "held") held.push(it);
        // A provider that is behind does not know it yet.
        else if (status === "none") await lookLater(it, "The escrow is not there.");
        else {
          log("An instruction is dropped.", {
            key: it.key,
            signer: it.signer,
            reason: `the escrow is ${status}`,
          });
          await finish(it, status);
        }
      }
    }
    return held;
  }

  /** The items of contract wallets that would be carried out now, with the gas set aside that each needs. */
  async function goodOf(items: readonly Instruction[], signal: AbortSignal): Promise<Instruction[]> {
    const good: Instruction[] = [];
    for (const chunk of chunksOf(items, AT_ONCE)) {
      if (signal.aborted) break;
      const tried = await Promise.all(chunk.map(({ call }) => calls.tryItem(call, GAS_EACH_CONTRACT)));
      for (const [at, it] of chunk.entries()) {
        const outcome = tried[at] as TriedCall;
        const gas = Number(gasFor(outcome));
        it.gasUsed = Number(outcome.gasUsed);
        if (!outcome.done) await onNo(it, outcome.error);
        else if (it.reservation?.gas === gas || setAside(it, gas)) good.push(it);
        else await lookLater(it, `needs ${gas} gas, for which its account has no room`);
      }
    }
    return good;
  }

  async function send(items: Instruction[], gasEach: bigint, done: (count: number) => void): Promise<void> {
    // Noted before it is sent: a keeper that is killed in between knows of it.
    for (const it of items) if (it.reservation) await book.put(it);
    const { tried, failed, gasUsed } = await batches.send(items, gasEach).catch((error: unknown) => {
      // It may be mined yet.
      for (const it of items) it.owed += it.reservation?.gas ?? 0;
      throw error;
    });
    const failures = new Map(failed.map((failure) => [failure.index, failure]));
    const good = items.filter((_, at) => at < tried && !failures.has(at));
    // What the failed ones burned together, at the most; which of them it was nobody can say.
    const burned = Number(gasUsed) - TRANSACTION_GAS - good.reduce((sum, it) => sum + it.gasUsed, 0);
    for (const [at, it] of items.entries()) {
      if (at >= tried) continue;
      const failure = failures.get(at);
      if (failure) await onFailure(it, failure.error, Math.min(Number(gasEach), Math.max(0, burned)));
      else {
        await finish(it, it.kind === "release" ? "released" : "refunded");
        done(1);
      }
    }
  }

  async function finish(it: Instruction, status: EscrowState["status"]): Promise<void> {
    await book.remove(it);
    it.reservation?.giveBack();
    if (status !== "released" || it.kind !== "release" || !isPaid(it.hire)) return;
    await accounts.earn(advancesOf(it.hire.buyer));
    if (!it.byKey) await accounts.earn(wordsOf(it.hire.buyer));
  }

  async function drop(it: Instruction, reason: string | undefined): Promise<void> {
    log("An instruction is dropped.", {
      key: it.key,
      signer: it.signer,
      reason: reason ?? "no reason given",
    });
    await book.remove(it);
    it.reservation?.giveBack();
  }

  /** It failed on the chain. */
  async function onFailure(it: Instruction, error: string | undefined, gas: number): Promise<void> {
    const { reservation } = it;
    it.reservation = undefined;
    // Somebody was faster: no fault of the wallet's, and the next look at the escrow says how it ended.
    const isLate = error === "WrongStatus";
    await reservation?.lose(gas + (isLate ? 0 : it.owed), !isLate);
    if (isLate) return await book.put(it);
    it.owed = 0;
    it.tries++;
    if (it.tries >= MOST_TRIES || FOR_GOOD.has(error ?? "")) return await drop(it, error);
    log("An instruction failed and is tried once more, alone.", {
      key: it.key,
      signer: it.signer,
      reason: error,
    });
    await book.put(it);
  }

  /** Off the chain it is not good now: that costs nothing, so it may become so. */
  async function onNo(it: Instruction, error: string | undefined): Promise<void> {
    if (FOR_GOOD.has(error ?? "")) await drop(it, error);
    else await lookLater(it, error);
  }

  async function lookLater(it: Instruction, reason: string | undefined): Promise<void> {
    it.reservation?.giveBack();
    it.reservation = undefined;
    it.looks++;
    it.notBefore = now() + LOOK_MS * 2 ** it.looks;
    if (it.looks >= MOST_LOOKS) await drop(it, reason);
  }

  return { take, carryOut };
}

/** What an item that took so much gas is given. */
function gasFor({ gasUsed }: TriedCall): bigint {
  return (gasUsed * 11n) / 10n <= GAS_EACH_SMALL_CONTRACT ? GAS_EACH_SMALL_CONTRACT : GAS_EACH_CONTRACT;
}

/** The contract would not do it. */
export function refusal(what: string, { error }: TriedCall): ChainError {
  return new ChainError({
    code: "call_refused",
    message: `${what}: ${error ?? "it ran out of gas, or gave no reason"}`,
    hint: "Nothing was sent.",
    reason: error,
  });
}
