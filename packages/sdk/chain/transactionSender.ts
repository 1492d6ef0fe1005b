import type { Address } from "tallystick-protocol/address";
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  type LocalAccount,
  type PublicClient,
  type TransactionReceipt,
  type Transport,
} from "viem";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";

/** A call of a contract. */
export type ContractCall = {
  address: Address;
  abi: readonly unknown[];
  functionName: string;
  args: readonly unknown[];
  /**
   * Gas to send with it. Default: a quarter more than the node estimates. Set it for a call that can end early without
   * failing.
   */
  gas?: bigint;
};

/** Sends one account's transactions in order. No two of them use the same nonce. */
export type TransactionSender = {
  address: Address;
  client: PublicClient;
  /** Simulates, sends, and returns the hash. The next call does not wait until it is mined. */
  send: (call: ContractCall) => Promise<Hex>;
  /** Like `send`, and waits until it is mined. @throws ChainError when it is reverted */
  sendAndWait: (call: ContractCall) => Promise<TransactionReceipt>;
};

export type TransactionSenderParameters = {
  /** Pays the gas. */
  account: LocalAccount;
  chainId: number;
  /** A URL, or a viem transport. */
  rpc: string | Transport;
  /** Milliseconds between two looks for a receipt. Default 1,000. */
  pollingMs?: number;
  /** Milliseconds after which a call without an answer from the RPC no longer delays the next one. Default 20,000. */
  sendMs?: number;
};

/** The state of one call: whether it was sent, and whether it must no longer be sent. */
type Attempt = { isSent: boolean; isOver: boolean };

/**
 * An account that sends transactions for others: a facilitator, a relay, a keeper.
 *
 * Calls are queued. Each is simulated with the account as sender (so a bad call costs nothing and uses no
 * nonce), then sent with the next nonce.
 */
export function createTransactionSender(parameters: TransactionSenderParameters): TransactionSender {
  const { account, chainId, rpc, pollingMs = 1_000, sendMs = 20_000 } = parameters;
  const chain = defineChain({
    id: chainId,
    name: `eip155:${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: typeof rpc === "string" ? [rpc] : [] } },
  });
  const transport = typeof rpc === "string" ? http(rpc) : rpc;
  const client = createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: pollingMs });
  const wallet = createWalletClient({ account, chain, transport });
  let queue: Promise<unknown> = Promise.resolve();

  async function sendNow(call: ContractCall, attempt: Attempt): Promise<Hex> {
    try {
      // A quarter more: the cost of a payment depends on balances that may have changed by then.
      const gas = call.gas ?? ((await client.estimateContractGas({ ...call, account })) * 5n) / 4n;
      const nonce = await client.getTransactionCount({ address: account.address, blockTag: "pending" });
      const data = encodeFunctionData(call);
      const request = await wallet.prepareTransactionRequest({ to: call.address, data, gas, nonce });
      const serializedTransaction = await wallet.signTransaction(request);
      if (attempt.isOver) throw new Error("nobody waits for it any more");
      attempt.isSent = true;
      return await wallet.sendRawTransaction({ serializedTransaction });
    } catch (cause) {
      throw chainError(call, cause, !attempt.isSent);
    }
  }

  const send = (call: ContractCall): Promise<Hex> => {
    const attempt: Attempt = { isSent: false, isOver: false };
    const sent = queue.then(async () => {
      const hash = await within(sendNow(call, attempt), sendMs);
      if (hash !== undefined) return hash;
      attempt.isOver = true;
      throw chainError(call, new Error(`the RPC did not answer within ${sendMs} ms`), !attempt.isSent);
    });
    queue = sent.catch(() => {});
    return sent;
  };

  return {
    address: account.address.toLowerCase() as Address,
    client,
    send,
    sendAndWait: async (call) => {
      const hash = await send(call);
      const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: pollingMs });
      if (receipt.status === "success") return receipt;
      throw new ChainError({
        code: "transaction_reverted",
        message: `${call.functionName} was reverted in transaction ${hash}.`,
        hint: "Somebody else may have sent a transaction first: read the state again.",
        details: { hash },
      });
    },
  };
}

function chainError(call: ContractCall, cause: unknown, neverSent: boolean): ChainError {
  const reverted =
    cause instanceof BaseError
      ? cause.walk((error) => error instanceof ContractFunctionRevertedError)
      : undefined;
  const reason = reverted instanceof ContractFunctionRevertedError ? reverted.data?.errorName : undefined;
  const short = cause instanceof BaseError ? cause.shortMessage : String(cause);
  return new ChainError({
    code: reverted ? "call_refused" : "chain_unreachable",
    message: `${call.functionName}: ${reason ?? short}`,
    hint: neverSent
      ? "Nothing was sent."
      : "It is not known whether the transaction was sent: read the state again.",
    reason,
    neverSent,
    cause,
  });
}
