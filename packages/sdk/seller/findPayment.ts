import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { isAddressEqual, type PublicClient, parseAbi, parseEventLogs } from "viem";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { readPaymentState, settledBlock } from "../chain/paymentState.ts";
import { ChainError } from "../errors.ts";

const events = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** Finds the transaction in which exactly this authorization paid `value` to `payee`; undefined when there is none. */
export type FindPayment = (payment: {
  payer: Address;
  nonce: Hex;
  payee: Address;
  value: bigint;
}) => Promise<Hex | undefined>;

export type FindPaymentOptions = {
  /** How many blocks must show a payment, its own block included. Default 1. */
  confirmations?: number;
  /** The number of blocks of one request. Default 5,000, which public nodes allow. */
  window?: bigint;
  /** How many such windows are searched, the latest first. Default 20. */
  windows?: number;
};

/**
 * Looks a payment up on the chain by the events that EIP-3009 tokens emit. The nonce alone says nothing: a buyer
 * may have used it to pay somebody else. A transfer elsewhere in the same transaction says nothing either: it may
 * be the payment of another hire. The transfer of an authorization is the log just after its `AuthorizationUsed`.
 *
 * @throws ChainError `payment_not_found` when the authorization was used, but longer ago than is searched
 */
export function findPaymentOnChain(
  client: PublicClient,
  network: PaymentNetwork,
  { confirmations = 1, window = 5_000n, windows = 20 }: FindPaymentOptions = {},
): FindPayment {
  return async ({ payer, nonce, payee, value }) => {
    if (!(await readPaymentState(client, network, { payer, nonce }, confirmations)).isUsed) return undefined;
    const last = await settledBlock(client, confirmations);
    for (let toBlock = last, at = 0; at < windows; at++, toBlock -= window) {
      const fromBlock = toBlock >= window ? toBlock - window + 1n : 0n;
      const [used] = await client.getLogs({
        address: network.token,
        event: events[0],
        args: { authorizer: payer, nonce },
        fromBlock,
        toBlock,
      });
      if (used) return (await isPaid(used)) ? used.transactionHash : undefined;
      if (fromBlock === 0n) break;
    }
    throw new ChainError({
      code: "payment_not_found",
      message: `The authorization ${nonce} was used, but not in the last ${window * BigInt(windows)} blocks.`,
      hint: "Search further back: `windows` of findPaymentOnChain.",
    });

    async function isPaid(used: { transactionHash: Hex; logIndex: number }): Promise<boolean> {
      const { logs } = await client.getTransactionReceipt({ hash: used.transactionHash });
      const next = logs.filter(
        ({ address, logIndex }) => isAddressEqual(address, network.token) && logIndex === used.logIndex + 1,
      );
      return parseEventLogs({ abi: events, eventName: "Transfer", logs: next }).some(
        ({ args }) =>
          isAddressEqual(args.from, payer) && isAddressEqual(args.to, payee) && args.value === value,
      );
    }
  };
}
