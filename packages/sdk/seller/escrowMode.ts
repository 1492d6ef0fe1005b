import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { receiveWithAuthorizationTypedData } from "tallystick-protocol/escrow/authorization";
import { escrowFee, type FeeBand, PUBLISHED_FEES } from "tallystick-protocol/escrow/feeSchedule";
import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import { hashTypedData, type LocalAccount, type PublicClient } from "viem";
import { walletAsker } from "../chain/askWallet.ts";
import { chainCheck } from "../chain/chainCheck.ts";
import { networkId, type PaymentNetwork, tokenDomainOf } from "../chain/paymentNetwork.ts";
import { refuseOtherChain } from "../chain/refuseOtherChain.ts";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import type { EscrowRelay } from "../escrow/escrowRelay.ts";
import {
  ESCROW_SCHEME,
  type EscrowPayload,
  payeeInTerms,
  readEscrowPayload,
  VERIFICATION_WINDOW_MS,
} from "../escrow/escrowScheme.ts";
import { isByKey, unwrapSignature } from "../escrow/escrowSignature.ts";
import { type EscrowState, readEscrowState } from "../escrow/readEscrowState.ts";
import { createEscrowSigner } from "../escrow/signEscrow.ts";
import { tokenCheck } from "../escrow/tokenCheck.ts";
import { inLowerCase } from "../inLowerCase.ts";
import { lookFor, requireSameTerms } from "./directMode.ts";
import type { Job, Offer, SettlementMode } from "./job.ts";
import { markDelivery } from "./markDelivery.ts";
import { HireRefusedError, PaymentInvalidError } from "./sellerErrors.ts";

/** How long one look at the chain may take, in milliseconds. The buyer waits meanwhile. */
const LOOK_MS = 5_000;

export type EscrowModeParameters = {
  account: LocalAccount;
  network: PaymentNetwork;
  /** The contract's address. */
  escrow: Address;
  /** Sends deposits, deliveries and refunds to the contract. */
  relay: EscrowRelay;
  /**
   * Reads the chain. With it, the seller begins the work only when the chain shows the deposit, whatever the relay
   * says. It also refuses hires if the escrow holds another token than the network's.
   */
  client?: PublicClient;
  /** How many blocks must show the deposit, its own block included. Default 1. */
  confirmations?: number;
  /**
   * How long the chain may take to show the deposit that the relay has made, in milliseconds. Default: 1,000, and 4,000
   * for each confirmation.
   */
  shownWithinMs?: number;
  /** The account that receives the fee; without it there is no fee. */
  feeRecipient?: Address;
  fees?: readonly FeeBand[];
  /** The shortest time that a buyer's deadline must leave after the work, in milliseconds. Default 15 s. */
  minWindowMs?: number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
  /** The chain's clock, in milliseconds since 1970. Default: this machine's. */
  now?: () => number;
};

type EscrowStatus = EscrowState["status"];

/** Requires that `client` is of the network's chain, and the escrow of its token; undefined if there is no client. */
type EscrowCheck = { requireEscrow: (() => Promise<void>) | undefined };

/**
 * Settlement by escrow (SHP §7.3.3): the buyer's signature is deposited before the work, delivery is marked after
 * it, and the buyer releases. If the work fails, the seller sends the money back at once.
 */
export function escrowMode(parameters: EscrowModeParameters): SettlementMode {
  const { account, network, relay, fees = PUBLISHED_FEES } = parameters;
  const { escrow, feeRecipient = ZERO_ADDRESS } = inLowerCase(parameters, "escrow", "feeRecipient");
  const { minWindowMs = VERIFICATION_WINDOW_MS.sync / 2, now = Date.now, log = () => {} } = parameters;
  const deployment: EscrowDeployment = { chainId: network.chainId, escrow };
  const signer = createEscrowSigner({ account, deployment, network });
  const feeOf = (price: bigint): bigint => (feeRecipient === ZERO_ADDRESS ? 0n : escrowFee(price, fees));
  const requireEscrow = parameters.client && escrowCheck(parameters.client, network, escrow);
  const paymentOf = (job: Job): EscrowPayload => readEscrowPayload(job.payment?.payload.payload);

  return {
    requirements: async ({ listing, price }) => {
      await refuseOtherChain(requireEscrow);
      const fee = feeOf(price);
      return {
        scheme: ESCROW_SCHEME,
        network: networkId(network),
        asset: network.token,
        amount: String(price),
        payTo: escrow,
        maxTimeoutSeconds: Math.ceil((listing.max_latency_ms + VERIFICATION_WINDOW_MS.async) / 1000),
        extra: {
          name: network.name,
          version: network.version,
          seller: signer.address,
          payee: payeeInTerms(signer.address, listing.payee),
          fee: String(fee),
          fee_recipient: fee > 0n ? feeRecipient : ZERO_ADDRESS,
        },
      };
    },

    check: async ({ payload, requirements, offer, buyer, hireId }) => {
      requireSameTerms(payload.accepted, requirements);
      const payment = read(payload.payload);
      const { hire } = payment;
      const fee = feeOf(offer.price);
      requireTerms(hire, {
        ...(hireId !== undefined && { hireId }),
        ...{ buyer, seller: signer.address, payee: payeeInTerms(signer.address, offer.listing.payee) },
        ...{ amount: offer.price, fee, feeRecipient: fee > 0n ? feeRecipient : ZERO_ADDRESS },
      });
      requireTime(hire, offer, { now: now(), minWindowMs });
      await requireSigned(payment, deployment, { ...parameters, requireEscrow });
      const id = escrowId(hire, deployment);
      await requireUnused(id, relay);
      return { payer: buyer, key: `${escrow}-${id}` };
    },

    secure: async (job) => {
      const { hire, authorization } = paymentOf(job);
      const id = escrowId(hire, deployment);
      try {
        const tx = await relay.deposit(hire, authorization);
        await requireHeld(id, hire.amount, { ...parameters, requireEscrow });
        return { tx, escrowId: id };
      } catch (error) {
        if (!(error instanceof ChainError) || error.code !== "call_refused") throw error;
        if (error.reason === "WrongStatus") {
          throw (await requireNotTakenBack(id, relay)) === "released"
            ? releasedBefore(error)
            : madeBefore(error);
        }
        log("A deposit was refused.", { job: job.id, reason: error.reason, error: error.message });
        throw new PaymentInvalidError({
          code: "deposit_refused",
          message: `The deposit was refused: ${errorNameIn(error) ?? "the reason is in the seller's log"}`,
          hint: "Check that the wallet has the money, and that the authorization is still valid.",
        });
      }
    },

    collect: async (job, { isFirst }) => {
      const { hire } = paymentOf(job);
      const id = escrowId(hire, deployment);
      const resultHash = jsonHash(job.result ?? null);
      const signature = await signer.markDelivered(id, resultHash);
      // The mark only protects the seller from a buyer that never answers.
      const outcome = await markDelivery({
        ...{ relay, escrowId: id, deadline: hire.deadline, isFirst, now },
        send: () => relay.markDelivered(hire, resultHash, signature),
        log: (sentence, details) => log(sentence, { job: job.id, ...details }),
      });
      const isBeforeDelivery = job.stage === "collecting";
      if (isBeforeDelivery && (outcome === "refused" || !isFirst)) await requireNotTakenBack(id, relay);
      return { ...(outcome === "due" && { isMarkDue: true }) };
    },

    giveUp: async (job) => {
      const { hire } = paymentOf(job);
      const id = escrowId(hire, deployment);
      if ((await relay.state(id)).status !== "held") return;
      await relay.refund(hire, signer.address, await signer.refund(id));
    },
  };
}

/** Makes the check of an {@link EscrowCheck}. */
function escrowCheck(client: PublicClient, network: PaymentNetwork, escrow: Address): () => Promise<void> {
  const requireChain = chainCheck(client, network);
  const requireToken = tokenCheck(client, { escrow, token: network.token });
  return async () => {
    await requireChain();
    await requireToken();
  };
}

function requireTime(
  hire: Hire,
  { listing }: Offer,
  { now, minWindowMs }: { now: number; minWindowMs: number },
): void {
  const least = BigInt(Math.floor((now + listing.max_latency_ms + minWindowMs) / 1000));
  if (hire.deadline >= least) return;
  throw new PaymentInvalidError({
    code: "deadline_too_soon",
    message: `The deadline ${hire.deadline} leaves less than the latency and ${minWindowMs} ms; it must be ${least} or later.`,
    field: "payload.hire.deadline",
  });
}

function read(payload: unknown): EscrowPayload {
  try {
    return readEscrowPayload(payload);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new PaymentInvalidError({ code: "invalid_payload", message: message.slice(0, 300), cause });
  }
}

function requireTerms(hire: Hire, wanted: Partial<Hire>): void {
  for (const [field, value] of Object.entries(wanted)) {
    const actual = hire[field as keyof Hire];
    if (actual === value) continue;
    throw new PaymentInvalidError({
      code: "terms_differ",
      message: `${field} is ${actual}, but must be ${value}.`,
      field: `payload.hire.${field}`,
      hint: "Sign the terms of the PAYMENT-REQUIRED header as they are.",
    });
  }
}

/**
 * Checks the signature of a key. If no key of the buyer made it, the buyer may be a contract wallet, whose signature can
 * be as long as a key's. The wallet is asked if the chain can be read. If not, the chain checks the signature when the
 * deposit is simulated.
 */
async function requireSigned(
  { hire, authorization }: EscrowPayload,
  deployment: EscrowDeployment,
  { network, client, requireEscrow }: EscrowModeParameters & EscrowCheck,
): Promise<void> {
  const signature = unwrapSignature(authorization.signature);
  const nonce = escrowId(hire, deployment);
  const terms = { from: hire.buyer, to: deployment.escrow, value: hire.amount, nonce, ...authorization };
  const hash = hashTypedData(receiveWithAuthorizationTypedData(terms, tokenDomainOf(network)));
  if (client === undefined || isByKey({ signer: hire.buyer, digest: hash, signature })) return;
  const ask = async () => {
    await requireEscrow?.();
    return await walletAsker(client)({ signer: hire.buyer, hash, signature });
  };
  const answer = (await within(unlessUnreachable(ask), LOOK_MS)) ?? "unknown";
  if (answer === "unknown") throw unreadable(new Error("the wallet could not be asked"));
  if (answer === "yes") return;
  throw new PaymentInvalidError({
    code: "invalid_signature",
    message: "The signature is not the buyer's over these terms.",
  });
}

/**
 * Requires that the chain itself shows the deposit. A relay may lie, or a reorganization may undo the deposit. A deposit that
 * the buyer has released already is with the seller.
 */
async function requireHeld(
  id: Hex,
  amount: bigint,
  parameters: EscrowModeParameters & EscrowCheck,
): Promise<void> {
  const { escrow, client, requireEscrow, confirmations = 1 } = parameters;
  const { shownWithinMs = 1_000 + 4_000 * confirmations } = parameters;
  if (client === undefined) return;
  const read = async () => {
    await requireEscrow?.();
    return await readEscrowState(client, escrow, id, confirmations);
  };
  let fault: unknown;
  const held = await lookFor(async () => {
    try {
      const state = await within(read(), LOOK_MS);
      if (state === undefined) throw new Error(`no answer within ${LOOK_MS} ms`);
      fault = undefined;
      const isHere = state.status === "held" ? state.amount === amount : state.status !== "none";
      return isHere ? state : undefined;
    } catch (error) {
      fault = error;
      return undefined;
    }
  }, shownWithinMs);
  if (held === undefined) throw fault === undefined ? notShown() : notSeen(fault);
  refuseTakenBack(held.status);
}

async function requireUnused(id: Hex, relay: EscrowRelay): Promise<void> {
  const { status } = await unlessUnreachable(() => relay.state(id));
  if (status === "none") return;
  throw new PaymentInvalidError({
    code: "payment_replayed",
    message: `This escrow is ${status} already.`,
    hint: "Sign new terms with a fresh nonce.",
  });
}

/**
 * Requires that the buyer has not ended the escrow before it gets the result, for example by a refund. Otherwise the buyer
 * would get the work and keep the money, and no delivery would be marked.
 *
 * @returns the escrow's status; undefined if it cannot be read
 */
async function requireNotTakenBack(id: Hex, relay: EscrowRelay): Promise<EscrowStatus | undefined> {
  // If the state cannot be read, the result is delivered: most buyers are honest, and the deposit was seen before.
  const status = await relay.state(id).then(
    (state) => state.status,
    () => undefined,
  );
  refuseTakenBack(status);
  return status;
}

function refuseTakenBack(status: EscrowStatus | undefined): void {
  if (status !== "refunded" && status !== "timedOut" && status !== "split") return;
  throw new PaymentInvalidError({
    code: "payment_taken_back",
    message: `The escrow ended before the delivery (${status}), so the result is not delivered.`,
    hint: "Sign new terms for another hire, and leave the money in the escrow until the result comes.",
  });
}

async function unlessUnreachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown): HireRefusedError {
  return new HireRefusedError({
    status: 503,
    code: "chain_unreachable",
    message: "The escrow cannot be read at the moment.",
    hint: "Send the same request again later.",
    cause,
  });
}

function notSeen(cause: unknown): HireRefusedError {
  return new HireRefusedError({
    status: 503,
    code: "chain_unreachable",
    message:
      "The seller cannot read its deposit from the chain. It does not work, and sends the deposit back.",
    hint: "Read the escrow's state, and sign new terms for another hire.",
    cause,
  });
}

/** The name of a contract's error. Any other text of a relay or of an RPC may hold an address with a key. */
function errorNameIn({ reason }: ChainError): string | undefined {
  return reason !== undefined && /^[A-Za-z][A-Za-z0-9_]{0,79}$/.test(reason) ? reason : undefined;
}

/** The error of a seller that cannot find the transaction of a deposit, although the contract has the escrow. */
function madeBefore(cause: ChainError): HireRefusedError {
  return new HireRefusedError({
    status: 504,
    code: "deposit_unconfirmed",
    message:
      "The escrow's contract takes no second deposit, but the chain does not show the first one yet. The seller does not work.",
    hint: "Read the escrow's state before you pay again. The seller or the buyer can send the deposit back.",
    cause,
  });
}

/** The error of a seller that is paid, and cannot find the transaction of the deposit, which its receipt must name. */
function releasedBefore(cause: ChainError): HireRefusedError {
  return new HireRefusedError({
    status: 504,
    code: "deposit_unconfirmed",
    message:
      "The buyer has released the money, but the seller cannot find the transaction of the deposit. The seller does not work.",
    hint: "Release the money only when the result has come.",
    cause,
  });
}

function notShown(): HireRefusedError {
  return new HireRefusedError({
    status: 504,
    code: "deposit_unconfirmed",
    message: "The seller's relay says that it has made the deposit, but the chain does not show it.",
    hint: "Read the escrow's state. If the deposit appears later, the seller or the buyer can send it back.",
  });
}
