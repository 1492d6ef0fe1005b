import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import {
  isAddressEqual,
  numberToHex,
  type PublicClient,
  pad,
  parseAbi,
  parseEventLogs,
  type RpcLog,
  toEventSelector,
} from "viem";
import { chainCheck } from "../chain/chainCheck.ts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { readPaymentState, settledBlock } from "../chain/paymentState.ts";
import { ChainError } from "../errors.ts";
import { PaymentInvalidError } from "./sellerErrors.ts";

const transfers = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);

/** The topics of the two events that end an authorization: it was used for a payment, or its payer canceled it. */
const USED = toEventSelector("AuthorizationUsed(address,bytes32)");
const CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)");

/**
 * Finds the transaction in which exactly this authorization paid `value` to `payee`. Undefined when the chain does not
 * show the payment yet. It must throw a PaymentInvalidError when the payment can never come, because only then a job
 * may be called failed.
 */
export type FindPayment = ((payment: {
  payer: Address;
  nonce: Hex;
  payee: Address;
  value: bigint;
  /** From this time of the chain on, in unix seconds, the authorization cannot be used. Default: never. */
  validBefore?: number;
}) => Promise<Hex | undefined>) & {
  /** Throws ChainError `wrong_chain` if payments are looked up on another chain. It is called before a buyer gets the terms. */
  requireChain?: () => Promise<void>;
};

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
 * @throws PaymentInvalidError `authorization_spent` when the authorization was used for another payment, or canceled;
 * `authorization_expired` when it was not used in its time; ChainError `payment_not_found` when it was used, but longer
 * ago than is searched; ChainError `wrong_chain` when the client is of another chain
 */
export function findPaymentOnChain(
  client: PublicClient,
  network: PaymentNetwork,
  { confirmations = 1, window = 5_000n, windows = 20 }: FindPaymentOptions = {},
): FindPayment {
  const requireChain = chainCheck(client, network);
  const find: FindPayment = async ({
    payer,
    nonce,
    payee,
    value,
    validBefore = Number.POSITIVE_INFINITY,
  }) => {
    await requireChain();
    const { isUsed, time } = await readPaymentState(client, network, { payer, nonce }, confirmations);
    if (!isUsed) {
      if (time < validBefore) return undefined;
      throw new PaymentInvalidError({
        code: "authorization_expired",
        message: `The authorization ${nonce} was not used before it expired.`,
        hint: "Sign a fresh payment.",
      });
    }
    const last = await settledBlock(client, confirmations);
    for (let toBlock = last, at = 0; at < windows; at++, toBlock -= window) {
      const fromBlock = toBlock >= window ? toBlock - window + 1n : 0n;
      const [end] = await endsIn(fromBlock, toBlock);
      if (end && end.topics[0] !== USED) {
        throw new PaymentInvalidError({
          code: "authorization_spent",
          message: `The authorization ${nonce} was canceled by its payer.`,
          hint: "Sign a fresh payment.",
        });
      }
      if (end && (await isPaid(end))) return end.transactionHash as Hex;
      if (end) {
        throw new PaymentInvalidError({
          code: "authorization_spent",
          message: `The authorization ${nonce} was used for another payment.`,
          hint: "Sign a fresh payment.",
        });
      }
      if (fromBlock === 0n) break;
    }
    throw new ChainError({
      code: "payment_not_found",
      message: `The authorization ${nonce} was used, but not in the last ${window * BigInt(windows)} blocks.`,
      hint: "Search further back: `windows` of findPaymentOnChain.",
    });

    /** Asks for both events at once. `getLogs` of viem can only ask for one event with arguments. */
    async function endsIn(fromBlock: bigint, toBlock: bigint): Promise<RpcLog[]> {
      const topics = [[USED, CANCELED], pad(payer), nonce];
      const blocks = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
      return await client.request({
        method: "eth_getLogs",
        params: [{ address: network.token, topics, ...blocks }],
      });
    }

    async function isPaid(used: RpcLog): Promise<boolean> {
      const { logs } = await client.getTransactionReceipt({ hash: used.transactionHash as Hex });
      const next = logs.filter(
        ({ address, logIndex }) =>
          isAddressEqual(address, network.token) && logIndex === Number(used.logIndex) + 1,
      );
      return parseEventLogs({ abi: transfers, logs: next }).some(
        ({ args }) =>
          isAddressEqual(args.from, payer) && isAddressEqual(args.to, payee) && args.value === value,
      );
    }
  };
  find.requireChain = requireChain;
  return find;
}
