import { isAddressEqual, type PublicClient, parseAbi, parseEventLogs } from "viem";
import type { Address } from "../../protocol/address.ts";
import type { Hex } from "../../protocol/hex.ts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";

const events = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** Finds the transaction in which an authorization paid `value` to `payee`; undefined when there is none. */
export type FindPayment = (payment: {
  payer: Address;
  nonce: Hex;
  payee: Address;
  value: bigint;
}) => Promise<Hex | undefined>;

/**
 * Looks a payment up on the chain by the events that EIP-3009 tokens emit, in the last `blocks` blocks. The nonce alone
 * says nothing: a buyer may have used it to pay somebody else.
 */
export function findPaymentOnChain(
  client: PublicClient,
  network: PaymentNetwork,
  blocks = 5_000n,
): FindPayment {
  return async ({ payer, nonce, payee, value }) => {
    const head = await client.getBlockNumber();
    const [used] = await client.getLogs({
      address: network.token,
      event: events[0],
      args: { authorizer: payer, nonce },
      fromBlock: head > blocks ? head - blocks : 0n,
    });
    if (!used) return undefined;
    const { logs } = await client.getTransactionReceipt({ hash: used.transactionHash });
    const ofToken = logs.filter((log) => isAddressEqual(log.address, network.token));
    const paid = parseEventLogs({ abi: events, eventName: "Transfer", logs: ofToken }).some(
      ({ args }) =>
        isAddressEqual(args.from, payer) && isAddressEqual(args.to, payee) && args.value === value,
    );
    return paid ? used.transactionHash : undefined;
  };
}
