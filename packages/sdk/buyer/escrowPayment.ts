import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { formatUsdc } from "tallystick-protocol/amount";
import { escrowFee, type FeeBand, PUBLISHED_FEES } from "tallystick-protocol/escrow/feeSchedule";
import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { LocalAccount } from "viem";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { ChainError, type MoneyState } from "../errors.ts";
import type { EscrowState } from "../escrow/escrowCalls.ts";
import type { EscrowRelay } from "../escrow/escrowRelay.ts";
import {
  ESCROW_SCHEME,
  escrowExtraSchema,
  payeeInTerms,
  readEscrowPayload,
  toEscrowPayload,
  VERIFICATION_WINDOW_MS,
} from "../escrow/escrowScheme.ts";
import type { SettledEscrowState } from "../escrow/readEscrowState.ts";
import { createEscrowSigner } from "../escrow/signEscrow.ts";
import { inLowerCase } from "../inLowerCase.ts";
import type { PaymentRequirements } from "../x402/paymentHeaders.ts";
import type { BuyerMode, Conclusion, SignedPayment } from "./buyerContext.ts";
import { type Agreed, judgeTerms, refusal } from "./judgeTerms.ts";

/**
 * An escrow that may hold a buyer's money. Before you add one, look at its contract, its audit, its guardians and its
 * operator (SHP §12).
 */
export type AllowedEscrow = {
  /** The contract's address. */
  escrow: Address;
  /** Carries releases and refunds to the contract. */
  relay: EscrowRelay;
  /** Who may receive the fee. Without this address, no fee is accepted. */
  feeRecipient?: Address;
  /** The highest fees that are accepted. Default: the published fee schedule. */
  fees?: readonly FeeBand[];
  /** A third account that may refund, in addition to buyer and seller. Default: nobody. */
  arbiter?: Address;
  /** Milliseconds for verification. Default 30 s, or 5 min when the result comes later. */
  verificationWindowMs?: number;
};

/** How far a chain's clock may be behind this machine's clock, in seconds, where no time of a block is known. */
const CLOCK_MARGIN_SECONDS = 60;

/**
 * Payment by escrow (SHP §7.3.3): one signature funds the escrow and fixes its terms. The buyer releases the money if
 * the result verifies, and refunds it otherwise. If nobody signs anything more, anybody may send the money back from the
 * deadline on: the time of signing, plus the seller's latency, plus the verification window.
 */
export function escrowPayment(parameters: {
  account: LocalAccount;
  network: PaymentNetwork;
  allowed: AllowedEscrow;
  /** Milliseconds since 1970. */
  now: () => number;
  /**
   * Reads the state of an escrow from the chain. Without it, the buyer believes the relay, which it has chosen
   * itself.
   */
  readState?: ((escrow: Address, id: Hex) => Promise<SettledEscrowState>) | undefined;
}): BuyerMode {
  const { account, network, now } = parameters;
  const allowed = inLowerCase(parameters.allowed, "escrow", "feeRecipient", "arbiter");
  const { relay } = allowed;
  const deployment: EscrowDeployment = { chainId: network.chainId, escrow: allowed.escrow };
  const signer = createEscrowSigner({ account, deployment, network });
  const hireOf = ({ payload }: SignedPayment): Hire => readEscrowPayload(payload.payload).hire;

  /**
   * Whether nobody can use a signed deposit after the block that showed this state. The block's own time decides if
   * it is known. A block with enough confirmations may be minutes old, and a later block may have the deposit.
   */
  const isExpired = ({ deadline }: Hire, { time }: Shown): boolean =>
    time === undefined ? now() / 1000 > Number(deadline) + CLOCK_MARGIN_SECONDS : time >= Number(deadline);

  const shown = (id: Hex): Promise<Shown> =>
    parameters.readState ? parameters.readState(allowed.escrow, id) : relay.state(id);

  const refund = async (hire: Hire): Promise<Hex> =>
    await relay.refund(hire, signer.address, await signer.refund(escrowId(hire, deployment)));
  const release = async (hire: Hire): Promise<Hex> =>
    await relay.release(hire, await signer.release(escrowId(hire, deployment)));
  /**
   * Sends an instruction, and returns where the money then is. Never throws: if the state is unknown, the money is
   * `held`.
   */
  const settle = async (hire: Hire, work: (hire: Hire) => Promise<Hex>): Promise<Conclusion> => {
    let tx: Hex | undefined;
    try {
      tx = await work(hire);
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== "call_refused") return booked("held");
    }
    const state = await shown(escrowId(hire, deployment)).catch(() => undefined);
    const money = state ? moneyOf(state) : "held";
    const isNone = state?.status === "none" && isExpired(hire, state);
    return { ...booked(isNone ? "none" : money), ...(tx && { tx }) };
  };

  return {
    pay: async (required, agreed, hireId, reserve) => {
      const option = judgeTerms(required, agreed, ESCROW_SCHEME, allowed.escrow);
      const terms = judgeEscrowTerms(option, agreed, allowed);
      const amount = BigInt(option.amount);
      await reserve(amount);
      const kind = agreed.isAsync ? "async" : "sync";
      const windowMs = allowed.verificationWindowMs ?? VERIFICATION_WINDOW_MS[kind];
      const deadline = BigInt(Math.ceil((now() + agreed.listing.max_latency_ms + windowMs) / 1000));
      const hire: Hire = { ...terms, hireId, buyer: signer.address, amount, deadline };
      const authorization = await signer.authorizeDeposit(hire);
      return {
        amount,
        validUntil: Number(deadline),
        payload: {
          x402Version: 2,
          resource: required.resource,
          accepted: option,
          payload: toEscrowPayload({ hire, authorization }),
        },
      };
    },
    escrowOf: (payment) => {
      const hire = hireOf(payment);
      return {
        contract: deployment.escrow,
        escrowId: escrowId(hire, deployment),
        deadline: Number(hire.deadline),
      };
    },
    whenSent: "authorized",
    abandon: async (payment): Promise<MoneyState> => {
      const hire = hireOf(payment);
      const state = await shown(escrowId(hire, deployment)).catch(() => undefined);
      if (state?.status !== "held") return state ? asMoneyState(moneyOf(state)) : "authorized";
      return asMoneyState((await settle(hire, refund)).money);
    },
    isOver: async (payment) => {
      const hire = hireOf(payment);
      const state = await shown(escrowId(hire, deployment));
      if (state.status === "none") return isExpired(hire, state) && { money: "none", book: "giveBack" };
      const money = asMoneyState(moneyOf(state));
      return money !== "held" && { ...booked(money), money };
    },
    conclude: async (payment, { all_passed }) => await settle(hireOf(payment), all_passed ? release : refund),
  };
}

/** The state of an escrow. `time` is the unix time of the block that shows it; a relay gives no time. */
type Shown = EscrowState & { time?: number };

/** Where the buyer's money is when the escrow has this state. */
function moneyOf({ status }: EscrowState): Conclusion["money"] {
  if (status === "held") return "held";
  if (status === "none") return "authorized";
  return status === "released" || status === "split" ? "released" : "refunded";
}

/** Adds what the budget does. Money that is held, or may still be taken, stays reserved. */
function booked(money: Conclusion["money"]): Conclusion {
  if (money === "released" || money === "paid") return { money, book: "spend" };
  return { money, book: money === "refunded" || money === "none" ? "giveBack" : "open" };
}

function asMoneyState(money: Conclusion["money"]): MoneyState {
  return money === "released" ? "paid" : money;
}

/**
 * Checks the terms that only an escrow has. Seller and payee must be those of the listing, and the fee must not be
 * higher than the accepted fees. The arbiter is the buyer's own choice.
 *
 * @throws PaymentRefusedError `malformed_terms`, `payee_changed`, `fee_too_high`
 */
function judgeEscrowTerms(
  option: PaymentRequirements,
  { listing }: Agreed,
  { feeRecipient = ZERO_ADDRESS, fees = PUBLISHED_FEES, arbiter = ZERO_ADDRESS }: AllowedEscrow,
): Pick<Hire, "seller" | "payee" | "fee" | "feeRecipient" | "arbiter"> {
  const refuse = refusal(listing);
  const read = escrowExtraSchema.safeParse(option.extra ?? {});
  if (!read.success)
    throw refuse("malformed_terms", `Its terms cannot be read: ${read.error.issues[0]?.message}`);
  const { seller, payee, fee_recipient } = read.data;
  const ours = payeeInTerms(listing.agent_id, listing.payee);
  if (seller !== listing.agent_id || payeeInTerms(listing.agent_id, payee) !== ours) {
    throw refuse("payee_changed", `It wants ${payee} to be paid for ${seller}; its listing says otherwise.`);
  }
  const fee = BigInt(read.data.fee);
  const most = feeRecipient === ZERO_ADDRESS ? 0n : escrowFee(BigInt(option.amount), fees);
  if (fee > most) {
    throw refuse(
      "fee_too_high",
      `The fee is ${formatUsdc(fee)} USDC; at most ${formatUsdc(most)} is published.`,
    );
  }
  if (fee > 0n && fee_recipient !== feeRecipient) {
    throw refuse("fee_too_high", `The fee would go to ${fee_recipient}, not to ${feeRecipient}.`);
  }
  return { seller, payee: ours, fee, feeRecipient: fee > 0n ? feeRecipient : ZERO_ADDRESS, arbiter };
}
