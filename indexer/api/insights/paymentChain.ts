import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { isPaymentUsed } from "tallystick-sdk/chain/paymentState";
import { type FindPayment, findPaymentOnChain } from "tallystick-sdk/seller/findPayment";
import { createPublicClient, http, type PublicClient } from "viem";
import { fetchWithin } from "../../fetchWithin.ts";

/** What the paywall asks the chain about an authorization. */
export type PaymentChain = {
  /** Whether it was used, as of the latest block. */
  isUsed: (authorization: Pick<Parameters<FindPayment>[0], "payer" | "nonce">) => Promise<boolean>;
  /** Finds the transaction that used it for exactly this payment. */
  find: FindPayment;
};

/** The longest time of one answer of the chain, in milliseconds. */
const ANSWER_MS = 3_000;

/** Reads payments from a chain. Only payments of the last hours are searched: these are of minutes ago. */
export function paymentChain(client: PublicClient, network: PaymentNetwork): PaymentChain {
  return {
    isUsed: (authorization) => isPaymentUsed(client, network, authorization),
    find: findPaymentOnChain(client, network, { windows: 1 }),
  };
}

/** Reads payments through an RPC. */
export function paymentChainOf(rpcUrl: string, network: PaymentNetwork): PaymentChain {
  const limits = { retryCount: 0, timeout: ANSWER_MS, fetchFn: fetchWithin(ANSWER_MS) };
  return paymentChain(createPublicClient({ transport: http(rpcUrl, limits) }), network);
}
