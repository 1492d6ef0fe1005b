import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { within } from "../deadline.ts";
import { ChainError, RelayRefusedError } from "../errors.ts";
import { refusal } from "./carryOut.ts";
import { type EscrowCalls, encodeEscrowCall } from "./escrowCalls.ts";
import { DEPOSIT, type EscrowRelay, sendWhenKnown } from "./escrowRelay.ts";
import { advancesOf, type GasAccountId, type GasAccounts, signaturesOf } from "./gasAccounts.ts";
import { LATE } from "./instructionOutcomes.ts";
import type { KeeperBatches } from "./keeperBatches.ts";
import type { OwnDeposits } from "./ownDeposits.ts";
import type { DepositAuthorization } from "./signEscrow.ts";
import type { TriedCall } from "./tryCall.ts";
import { whenKnown } from "./whenKnown.ts";

/** Gas with which a deposit or a mark of delivery is tried: several times what each of the two takes. */
const TRY_GAS = 1_000_000n;

/** The gas that an item costs besides its own call: the transaction, the batch, and the call's bytes. */
const AROUND_GAS = 50_000;

/**
 * What is sent: `key` says what it does to which escrow, and `call` has the signature in it. `isOwed`: it is sent even
 * if the buyer's gas account has no room.
 */
type Advance = { key: string; what: string; call: Hex; hire: Hire; signer: Address; isOwed: boolean };

export type AdvancesParameters = {
  calls: EscrowCalls;
  batches: KeeperBatches;
  accounts: GasAccounts;
  /** The hires that this keeper deposited and whose delivery it has not marked. */
  own: OwnDeposits;
  /** Gas that a buyer's deposits and deliveries may cost in a window. Each hire that pays the fee adds to it. */
  gasPerBuyer: number;
  /** Gas that the signatures of one contract wallet may cost in a window. */
  gasPerWallet: number;
  /** Milliseconds that a request waits until it is mined. */
  batchMs: number;
};

/**
 * What a keeper pays before it gets a fee: deposits and marks of delivery. The gas of each counts against the hire's
 * buyer until the buyer's window ends. A release that brings the fee raises the buyer's allowance. A contract wallet
 * that checks a signature may burn the gas. So if a call with such a signature fails on the chain, its gas counts
 * against the wallet, which has an allowance of its own.
 *
 * The delivery of a hire that this keeper deposited is always marked. Otherwise a buyer could use up its account, stay
 * silent, and so make its seller look like one that never delivered.
 */
export function createAdvances(
  parameters: AdvancesParameters,
): Pick<EscrowRelay, "deposit" | "markDelivered"> {
  const { calls, batches, own, batchMs } = parameters;
  /** Requests, by their call: the signature is a part of it. */
  const underWay = new Map<Hex, Promise<Hex>>();
  /** Calls that passed their trial and are being sent, by their `key`. */
  const sending = new Map<string, Promise<Hex>>();

  /** Tries a call, and sends it, unless a call with another signature already does the same. */
  async function tryAndSend(it: Advance): Promise<Hex> {
    const { key, what, call, hire, signer } = it;
    const attempt = async (): Promise<TriedCall> => {
      const tried = await calls.tryItem(call, TRY_GAS);
      if (!tried.done) throw refusal(what, tried);
      return tried;
    };
    // The contract refuses a second deposit with the same error, so a deposit is tried once.
    const { gasUsed } =
      what === "markDelivered" ? await whenKnown(calls, calls.idOf(hire), attempt) : await attempt();
    const hasCode = await calls.hasCode(signer);
    const running = sending.get(key);
    if (running) return await running;
    if (batches.isOnItsWay(key)) throw notMined(what);
    const sent = send(parameters, it, gasUsed, hasCode).finally(() => sending.delete(key));
    sending.set(key, sent);
    return await sent;
  }

  /**
   * Does the same thing only once: a second request during the first gets the result of the first. A request with
   * another signature is tried separately, so a stranger's wrong signature spoils nobody else's answer. A request
   * does not wait for ever. Its call continues when the request has ended.
   */
  const once = async (it: Advance): Promise<Hex> => {
    // An earlier process sent it.
    if (!sending.has(it.key) && batches.isOnItsWay(it.key)) throw notMined(it.what);
    const running = underWay.get(it.call) ?? tryAndSend(it).finally(() => underWay.delete(it.call));
    underWay.set(it.call, running);
    // If it fails after the request has ended, nobody is told.
    running.catch(() => {});
    const hash = await within(running, batchMs);
    if (hash === undefined) throw notMined(it.what);
    return hash;
  };

  async function deposit(hire: Hire, { validAfter, validBefore, signature }: DepositAuthorization) {
    return await once({
      key: `deposit/${calls.idOf(hire)}`,
      what: "depositWithAuthorization",
      call: encodeEscrowCall("depositWithAuthorization", [hire, validAfter, validBefore, signature]),
      hire,
      signer: hire.buyer,
      isOwed: false,
    });
  }

  return {
    deposit: (hire, authorization) => sendWhenKnown(calls, hire, () => deposit(hire, authorization), DEPOSIT),
    markDelivered: async (hire, resultHash, signature) => {
      const id = calls.idOf(hire);
      return await once({
        key: `delivered/${id}`,
        what: "markDelivered",
        call: encodeEscrowCall("markDelivered", [hire, resultHash, signature]),
        hire,
        signer: hire.seller,
        isOwed: own.has(id),
      });
    },
  };
}

/** Sends one call that passed its trial, and records its cost and whose deposit it is. */
async function send(
  { calls, batches, accounts, own, gasPerBuyer, gasPerWallet }: AdvancesParameters,
  { key, what, call, hire, signer, isOwed }: Advance,
  triedGas: bigint,
  hasCode: boolean,
): Promise<Hex> {
  const gasEach = (triedGas * 5n) / 4n;
  const gas = Number(gasEach) + AROUND_GAS;
  const most = isOwed ? Number.POSITIVE_INFINITY : gasPerBuyer;
  const advance = accounts.reserve(advancesOf(hire.buyer), gas, most);
  if (!advance) throw gasLimit(accounts, "hire.buyer", hire.buyer, advancesOf(hire.buyer));
  const signatureGas = hasCode ? accounts.reserve(signaturesOf(signer), gas, gasPerWallet) : undefined;
  if (hasCode && !signatureGas) {
    advance.giveBack();
    throw gasLimit(
      accounts,
      signer === hire.buyer ? "hire.buyer" : "hire.seller",
      signer,
      signaturesOf(signer),
    );
  }
  const id = calls.idOf(hire);
  const isMark = what === "markDelivered";
  // A deposit is noted before it is sent, so that the keeper knows it as its own also if it is killed meanwhile.
  const isNew =
    !isMark &&
    (await own.add(id).catch((error: unknown) => {
      advance.giveBack();
      signatureGas?.giveBack();
      throw error;
    }));
  const outcome = await batches.send([{ key, call }], gasEach).catch(async (error: unknown) => {
    // Unless `neverSent` is set, the call may have been sent, so its gas counts as spent.
    const isSure = error instanceof ChainError && error.neverSent;
    if (isSure) advance.giveBack();
    else await advance.lose(gas);
    signatureGas?.giveBack();
    if (isSure && isNew) await own.forget(id).catch(() => {});
    throw error;
  });
  const [failure] = outcome.failed;
  // What the disk keeps too long does no harm: the contract marks a delivery once.
  if (failure ? isNew : isMark) await own.forget(id).catch(() => {});
  if (failure && signatureGas) {
    advance.giveBack();
    // Who is late, and burns no more than a good call uses, has a valid signature.
    const isInnocent = failure.error === LATE && outcome.gasUsed <= triedGas + BigInt(AROUND_GAS);
    await signatureGas.lose(Number(outcome.gasUsed), !isInnocent);
  } else {
    await advance.lose(Number(outcome.gasUsed));
    signatureGas?.giveBack();
  }
  if (!failure) return outcome.transactionHash;
  throw new ChainError({
    code: "call_refused",
    message: `${what}: ${failure.error ?? "it failed on the chain"}`,
    hint: "It was valid when it came. Read the state again.",
    reason: failure.error,
  });
}

function gasLimit(
  accounts: GasAccounts,
  field: string,
  account: Address,
  id: GasAccountId,
): RelayRefusedError {
  return new RelayRefusedError({
    code: "gas_limit",
    message: `This keeper may spend no more gas on ${account} now.`,
    field,
    secondsToWait: accounts.secondsToWait(id),
  });
}

function notMined(what: string): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message: `${what}: it is not mined yet.`,
    hint: "The keeper continues with it. Read the state of the escrow later.",
  });
}
