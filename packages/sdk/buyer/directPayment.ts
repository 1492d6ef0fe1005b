import type { Address } from "tallystick-protocol/address";
import {
  type Authorization,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import type { Hex } from "tallystick-protocol/hex";
import type { LocalAccount } from "viem";
import { type PaymentNetwork, tokenDomainOf } from "../chain/paymentNetwork.ts";
import type { PaymentState } from "../chain/paymentState.ts";
import type { BuyerMode, SignedPayment } from "./buyerContext.ts";
import { judgeTerms, validUntil } from "./judgeTerms.ts";

/** How far a chain's clock may be behind this machine's clock, in seconds. */
const EXPIRY_MARGIN_SECONDS = 60;

/**
 * Direct payment (SHP §7.3.2): one EIP-3009 authorization to the listing's payee. Its nonce is the hire's id. So the
 * token itself refuses a second payment for one hire, even if several payments are signed.
 */
export function directPayment(parameters: {
  account: LocalAccount;
  network: PaymentNetwork;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Reads the state of a payment from the chain. Without it, this buyer never reports that a payment is `paid`. */
  readState?: ((payment: { payer: Address; nonce: Hex }) => Promise<PaymentState>) | undefined;
}): BuyerMode {
  const { account, network, now, readState } = parameters;
  return {
    pay: async (required, agreed, hireId, reserve) => {
      const option = judgeTerms(required, agreed);
      const amount = BigInt(option.amount);
      await reserve(amount);
      const until = validUntil(option, agreed, Math.floor(now() / 1000));
      const authorization: Authorization = {
        from: account.address.toLowerCase() as Address,
        to: option.payTo.toLowerCase() as Address,
        value: amount,
        validAfter: 0n,
        validBefore: until,
        nonce: hireId,
      };
      const typedData = transferWithAuthorizationTypedData(authorization, tokenDomainOf(network));
      const signature = await account.signTypedData(typedData);
      const { from, to, value, validAfter, validBefore, nonce } = authorization;
      const written = {
        from,
        to,
        value: String(value),
        validAfter: String(validAfter),
        validBefore: String(validBefore),
        nonce,
      };
      return {
        amount,
        validUntil: Number(until),
        payload: {
          x402Version: 2,
          ...(required.resource.url !== "" && { resource: required.resource }),
          accepted: option,
          payload: { signature, authorization: written },
        },
      };
    },
    whenSent: "authorized",
    // A signature cannot be taken back, but it expires.
    abandon: async () => "authorized",
    isOver: async (payment) => {
      if (!readState) {
        // Without the chain it is unknown whether the payment was used. So it counts as spent once it has
        // expired.
        const isExpired = now() / 1000 >= payment.validUntil + EXPIRY_MARGIN_SECONDS;
        return isExpired && { money: "authorized", book: "spend" };
      }
      const { isUsed, time } = await readState(authorizationOf(payment));
      if (isUsed) return { money: "paid", book: "spend" };
      return time >= payment.validUntil && { money: "none", book: "giveBack" };
    },
    // The verification enters the seller's reputation. The money stays the seller's (SHP §7.3.2).
    conclude: async (payment) => {
      if (!readState) return { money: "authorized", book: "spend" };
      const { isUsed } = await readState(authorizationOf(payment));
      return isUsed ? { money: "paid", book: "spend" } : { money: "authorized", book: "open" };
    },
  };
}

function authorizationOf({ payload }: SignedPayment): { payer: Address; nonce: Hex } {
  const { from, nonce } = (payload.payload as { authorization: { from: Address; nonce: Hex } }).authorization;
  return { payer: from, nonce };
}
