import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { advancesOf, type GasAccounts, type Reservation, signaturesOf } from "./gasAccounts.ts";
import { type Instruction, type InstructionBook, SURE_MS } from "./keeperInstructions.ts";
import type { EscrowState } from "./readEscrowState.ts";

/** Gas for an item in which a usual contract wallet verifies. A signature of an unknown wallet may cost no more. */
export const GAS_EACH_SMALL_CONTRACT = 150_000n;

/** How often an item may fail on the chain: once with others, and once more alone. */
const MAX_TRIES = 2;

/**
 * How many times a wallet may refuse, or an escrow may be unknown. After that the keeper does not look again. Each
 * wait is twice as long as the wait before.
 */
const MAX_LOOKS = 8;
const LOOK_MS = 5_000;

/**
 * The contract's error for an escrow that does not have the status that a call needs: somebody else was faster. A release, a
 * refund or a mark of delivery checks its signature before that, so its signature was valid. A deposit looks at the status
 * before any signature.
 */
export const LATE = "WrongStatus";

/** The contract's errors after which the same signature can never be valid. */
const PERMANENT_ERRORS = new Set([LATE, "NotAParty", "NotAuthorized"]);

export type OutcomesParameters = {
  book: InstructionBook;
  accounts: GasAccounts;
  /** Gas that the signatures of one contract wallet may cost in a window. */
  gasPerWallet: number;
  /** Whether a hire's release pays for what the hire cost. */
  isPaid: (hire: Hire) => boolean;
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/**
 * How an item failed on the chain: with which signature, how much gas it may have burned, and how much it used in its trial, to
 * a good end. `reservation`: the gas that was set aside for this attempt. A look at the item meanwhile may have given it back.
 * `isOwn`: the item was alone in its batch, so it certainly burned this gas itself.
 */
type Failure = {
  signature: Hex | undefined;
  error: string | undefined;
  gas: number;
  triedGas: number;
  reservation?: Reservation | undefined;
  isOwn?: boolean;
};

/** Records the result of an instruction, also in the gas account that pays for it. */
export function createOutcomes({ book, accounts, gasPerWallet, isPaid, now, log }: OutcomesParameters) {
  /** Sets gas aside for an item, or postpones it until its account may have room. */
  function setAside(it: Instruction, gas = Number(GAS_EACH_SMALL_CONTRACT)): boolean {
    it.reservation?.giveBack();
    it.reservation = accounts.reserve(signaturesOf(it.signer), gas, gasPerWallet);
    // Gas that other items of the account have set aside may come back soon. Losses come back when the window
    // ends.
    if (it.reservation === undefined) it.notBefore = now() + LOOK_MS;
    return it.reservation !== undefined;
  }

  /** Stores that an attempt was never sent, so that the keeper does not count its gas after a crash. */
  async function deleteNote(it: Instruction): Promise<void> {
    it.reservation?.giveBack();
    it.reservation = undefined;
    await book.update(it);
  }

  /** Records the end of an instruction. It stays in the book until {@link seeSettled} finds the end again. */
  async function finish(it: Instruction, status: EscrowState["status"]): Promise<void> {
    it.reservation?.giveBack();
    it.reservation = undefined;
    if (book.find(it.key) !== it) return;
    const pays = status === "released" && it.kind === "release" && isPaid(it.hire) && !it.hasPaid;
    it.hasPaid ||= pays;
    it.settledAt = now();
    it.notBefore = it.settledAt + SURE_MS;
    await book.update(it);
    if (!pays) return;
    await accounts.earn(advancesOf(it.hire.buyer));
    if (!it.byKey) await accounts.earn(signaturesOf(it.hire.buyer));
  }

  /** The chain shows that the escrow is settled. When it shows so for the second time, this is certain. */
  async function seeSettled(it: Instruction, status: EscrowState["status"]): Promise<void> {
    if (it.settledAt !== undefined) return await book.remove(it);
    log("The escrow of an instruction is settled.", { key: it.key, signer: it.signer, reason: status });
    await finish(it, status);
  }

  /** The chain shows that the escrow is held. If it was settled, a reorganization has undone that. */
  function seeHeld(it: Instruction): void {
    if (it.settledAt === undefined) return;
    log("A reorganization has undone an instruction, which is sent again.", { key: it.key });
    it.settledAt = undefined;
  }

  async function drop(it: Instruction, reason = "no reason given"): Promise<void> {
    log("An instruction is dropped.", { key: it.key, signer: it.signer, reason });
    await book.remove(it);
    it.reservation?.giveBack();
  }

  /** Records an item that failed on the chain. If its wallet has signed it again since, that signature is tried. */
  async function onFailure(it: Instruction, failure: Failure): Promise<void> {
    const { signature, error, gas, triedGas, reservation = it.reservation, isOwn = true } = failure;
    if (it.reservation === reservation) it.reservation = undefined;
    const isLate = error === LATE;
    // A party of the hire can settle the escrow and so choose to be late. But who burns no more than a good instruction uses
    // takes nothing from the keeper that way. Among other items it is not known who burned the gas.
    const isInnocent = isLate && (gas <= triedGas || !isOwn);
    await reservation?.lose(gas + (isInnocent ? 0 : it.owed), !isInnocent);
    if (!isInnocent) it.owed = 0;
    // The next look at the escrow says how it ended.
    if (isLate) return await book.update(it);
    it.tries++;
    const isLast = it.tries >= MAX_TRIES || PERMANENT_ERRORS.has(error ?? "");
    if (isLast && it.signature === signature) return await drop(it, error);
    log("An instruction failed and is tried once more, alone.", {
      key: it.key,
      signer: it.signer,
      reason: error,
    });
    await book.update(it);
  }

  /** Records an item that a trial off the chain refused. That cost nothing, and the item may become valid later. */
  async function onRefused(it: Instruction, error: string | undefined): Promise<void> {
    if (PERMANENT_ERRORS.has(error ?? "")) await drop(it, error);
    else await lookLater(it, error);
  }

  async function lookLater(it: Instruction, reason: string | undefined): Promise<void> {
    it.reservation?.giveBack();
    it.reservation = undefined;
    it.looks++;
    it.notBefore = now() + LOOK_MS * 2 ** it.looks;
    if (it.looks >= MAX_LOOKS) await drop(it, reason);
  }

  return { setAside, deleteNote, finish, seeSettled, seeHeld, onFailure, onRefused, lookLater };
}
