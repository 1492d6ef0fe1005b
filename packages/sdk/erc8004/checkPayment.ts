import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";
import { type Finding, finding, notChecked } from "tallystick-protocol/erc8004/finding";
import type { Receipt } from "tallystick-protocol/records/receipt";
import { isAddressEqual, type PublicClient, parseAbi, parseEventLogs, type TransactionReceipt } from "viem";
import { base, baseSepolia } from "../chain/paymentNetwork.ts";
import { readEscrowState } from "../escrow/readEscrowState.ts";
import type { ChainReader } from "./registries.ts";

const transferAbi = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);
const usedAbi = parseAbi(["event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"]);

/** What the caller knows from a source other than the receipt. */
export type PaymentOf = { chainId: number; token?: Address | undefined; escrow?: Address | undefined };

/**
 * Checks that a receipt's transaction paid what the receipt says. It must contain a transfer of exactly this amount
 * of the token, from the buyer to the payee. The finding says whether the buyer's authorization names the hire. In escrow
 * mode the transaction must contain the buyer's deposit, and the escrow must have released this whole deposit since. A fee
 * may take less than half of it: a fee can go back to the buyer.
 *
 * @returns the finding, and the payment's block when the transaction is there
 */
export async function checkPayment(
  client: ChainReader,
  receipt: Receipt,
  known: PaymentOf,
): Promise<{ finding: Finding; block?: bigint }> {
  const { chainId } = known;
  const paidOn = chainIdOfNetwork(receipt.network);
  if (paidOn !== chainId)
    return {
      finding: notChecked(
        "payment",
        `it was paid on ${receipt.network}, and the RPC leads to chain ${chainId}`,
      ),
    };
  const transaction = await client.getTransactionReceipt({ hash: receipt.tx_hash }).catch((error: Error) => {
    if (error.name === "TransactionReceiptNotFoundError") return undefined;
    throw error;
  });
  if (transaction === undefined || transaction.status !== "success") {
    const detail = transaction === undefined ? "the chain does not have it" : "it failed";
    return { finding: finding("payment", false, "", `transaction ${receipt.tx_hash}: ${detail}`) };
  }
  const found =
    typeof receipt.escrow_id === "string"
      ? await checkEscrow(client, receipt, transaction, known)
      : checkTransfer(receipt, transaction, known);
  return { finding: found, block: transaction.blockNumber };
}

function checkTransfer(receipt: Receipt, { logs }: TransactionReceipt, known: PaymentOf): Finding {
  const token = known.token ?? [base, baseSepolia].find(({ chainId }) => chainId === known.chainId)?.token;
  if (token === undefined)
    return notChecked("payment", "the token of this chain is not known; name it (--token)");
  const { buyer, agent_id: seller, payee = seller, amount_usdc_atomic: amount, tx_hash: hash } = receipt;
  const ofToken = logs.filter(({ address }) => isAddressEqual(address, token));
  const paid = parseEventLogs({ abi: transferAbi, logs: ofToken }).filter(
    ({ args, logIndex }) =>
      isAddressEqual(args.from, buyer) &&
      isAddressEqual(args.to, payee) &&
      args.value === BigInt(amount) &&
      (receipt.log_index === undefined || receipt.log_index === logIndex),
  );
  // The nonce of a buyer's authorization is the id of the hire, and the transfer is the log just after its use.
  const isForHire = parseEventLogs({ abi: usedAbi, logs: ofToken }).some(
    ({ args, logIndex }) =>
      isAddressEqual(args.authorizer, buyer) &&
      args.nonce === receipt.hire_id &&
      paid.some((it) => it.logIndex === logIndex + 1),
  );
  const text = `${amount} of ${token} from ${buyer} to ${payee} in transaction ${hash}`;
  const whose = isForHire
    ? "its authorization names this hire"
    : "nothing on the chain names the hire, so several receipts may name this payment";
  return finding("payment", paid.length > 0, `${text}; ${whose}`, `there is no transfer of ${text}`);
}

async function checkEscrow(
  client: ChainReader,
  receipt: Receipt,
  { logs }: TransactionReceipt,
  { escrow }: PaymentOf,
): Promise<Finding> {
  if (escrow === undefined)
    return notChecked("payment", "it went through an escrow; name the one that you trust (--escrow)");
  const { buyer, agent_id: seller, amount_usdc_atomic: amount, escrow_id: id } = receipt;
  const ofEscrow = logs.filter(({ address }) => isAddressEqual(address, escrow));
  const deposit = parseEventLogs({ abi: hireEscrowAbi, eventName: "Deposited", logs: ofEscrow }).find(
    ({ args }) =>
      args.escrowId === id &&
      isAddressEqual(args.buyer, buyer) &&
      isAddressEqual(args.seller, seller) &&
      args.amount === BigInt(amount),
  );
  const text = `${amount} from ${buyer} for ${seller} into the escrow ${escrow}`;
  if (deposit === undefined) return finding("payment", false, "", `the transaction is no deposit of ${text}`);
  const { status } = await readEscrowState(client as PublicClient, escrow, id as `0x${string}`);
  const { fee, feeRecipient } = deposit.args;
  if (status === "split")
    return finding("payment", false, "", `${text} was split: the buyer took a part of it back`);
  if (status === "released" && 2n * fee > BigInt(amount))
    return finding(
      "payment",
      false,
      "",
      `${text} was released, but ${fee} of it went to ${feeRecipient} as a fee`,
    );
  const isPaid = status === "released";
  const taken = fee === 0n ? "" : `; a fee of ${fee} went to ${feeRecipient}`;
  return finding(
    "payment",
    isPaid,
    `${text}, ${status}${taken}`,
    `${text} is ${status}: the seller was not paid`,
  );
}
