import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import { chainCheck } from "../chain/chainCheck.ts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { isPaymentUsed, type PaymentState, readPaymentState } from "../chain/paymentState.ts";
import { refuseOtherChain } from "../chain/refuseOtherChain.ts";
import { readEscrowState, type SettledEscrowState } from "../escrow/readEscrowState.ts";

/** What a buyer reads from the chain on which it pays. */
export type ChainReads = {
  payment: (payment: { payer: Address; nonce: Hex }) => Promise<PaymentState>;
  escrow: (escrow: Address, id: Hex) => Promise<SettledEscrowState>;
  /** Whether the latest block shows a payment of this payer with this nonce. */
  isPaid: (payer: Address, nonce: Hex) => Promise<boolean>;
  /** Refuses a client of another chain. A client that does not answer in time is not refused. */
  refuseOther: () => Promise<void>;
};

/**
 * Reads payments and escrows. No read counts before the client has named the network's chain: see
 * {@link chainCheck}.
 *
 * @throws each function throws ChainError `wrong_chain`; reads also throw the errors of the client
 */
export function chainReads(client: PublicClient, network: PaymentNetwork, confirmations: number): ChainReads {
  const requireChain = chainCheck(client, network);
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    // Both are asked at once: the search for an earlier payment has only a second.
    const found = work();
    found.catch(() => {});
    await requireChain();
    return await found;
  };
  return {
    payment: (payment) => read(() => readPaymentState(client, network, payment, confirmations)),
    escrow: (escrow, id) => read(() => readEscrowState(client, escrow, id, confirmations)),
    isPaid: (payer, nonce) => read(() => isPaymentUsed(client, network, { payer, nonce })),
    refuseOther: () => refuseOtherChain(requireChain),
  };
}
