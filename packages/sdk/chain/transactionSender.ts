import type { Address } from "tallystick-protocol/address";
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  type PublicClient,
  type TransactionReceipt,
  type Transport,
} from "viem";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import { rpcTransport } from "../net/rpcTransport.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { isUnpaid } from "./isUnpaid.ts";
import { SentTransactions } from "./sentTransactions.ts";

export type ContractCall = {
  address: Address;
  abi: readonly unknown[];
  functionName: string;
  args: readonly unknown[];
  /**
   * Gas to send with it. Default: a quarter more than the node estimates. Set it for a call that can end early
   * without failing. A call with `gas` is not simulated.
   */
  gas?: bigint;
  /** The most gas to send with it. A call for which the node estimates more is not sent. Default: no limit. */
  maxGas?: bigint;
};

/** Sends one account's transactions in order. No two of them use the same nonce. */
export type TransactionSender = {
  address: Address;
  client: PublicClient;
  /**
   * Simulates the call, sends it, and returns the hash. The next call does not wait until this call is mined. A
   * call that an earlier process with the same store sent, and that may still be mined, is not sent twice. If the
   * transaction has to be sent again at a higher price, it is mined under another hash.
   */
  send: (call: ContractCall) => Promise<Hex>;
  /**
   * Like `send`, and waits until the transaction is mined, at any price. It may be mined even if this throws.
   *
   * @param waitMs milliseconds to wait. Default 180,000
   * @throws ChainError `transaction_reverted`, or `chain_unreachable` when it is not mined in time
   */
  sendAndWait: (call: ContractCall, waitMs?: number) => Promise<TransactionReceipt>;
  /**
   * Waits for the transaction for which `send` has just returned this hash, also if it is mined under another hash. A
   * reverted transaction is a result too.
   *
   * @throws ChainError `chain_unreachable` when it is not mined in time, or was mined before the call
   */
  wait: (hash: Hex, waitMs?: number) => Promise<TransactionReceipt>;
  /** Whether the transaction for which `send` returned this hash may still be mined. */
  isUnmined: (hash: Hex) => boolean;
  /**
   * The transactions that may still be mined. With a store, this includes those of an earlier process. `mined` is
   * rejected if the transaction is never mined.
   */
  unmined: () => Promise<{ to: Address; data: Hex; mined: Promise<TransactionReceipt> }[]>;
  /** Ends all waiting. What was sent stays valid, and a sender with the same store continues with it. */
  close: () => void;
};

export type TransactionSenderParameters = {
  /** Pays the gas. */
  account: LocalAccount;
  chainId: number;
  /** A URL, or a viem transport. */
  rpc: string | Transport;
  /** Milliseconds between two looks for a receipt. Default 1,000. */
  pollingMs?: number;
  /** Milliseconds after which a call without an answer from the RPC no longer delays the next call. Default 20,000. */
  sendMs?: number;
  /**
   * Remembers what was sent until it is mined: `fileStore(folder)`. Without it a restart forgets what is not mined
   * yet.
   */
  store?: KeyValueStore;
  /**
   * Milliseconds until a transaction that is not mined is sent again at a higher price. Default 30,000. It is
   * short because an escrow returns the money at its deadline, even if a release was sent before but is not mined.
   */
  replaceMs?: number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** How long a caller waits for a transaction, in milliseconds. */
const WAIT_MS = 180_000;

/** The state of one call: whether it may have been sent, and whether it must no longer be sent. */
type Attempt = { isSent: boolean; isOver: boolean };

/**
 * An account that sends transactions for others: a facilitator, a relay, a keeper.
 *
 * Calls are queued. Each is simulated with the account as sender, so that a bad call costs nothing and uses no nonce.
 * Then it is sent with the next nonce. A transaction that the chain does not take is sent again, with the same call
 * and the same nonce. Its price is higher, but at most ten times the present price. Nothing else may send
 * transactions of the account.
 */
export function createTransactionSender(parameters: TransactionSenderParameters): TransactionSender {
  const { account, chainId, rpc, pollingMs = 1_000, sendMs = 20_000, store, replaceMs = 30_000 } = parameters;
  const { log } = parameters;
  const chain = defineChain({
    id: chainId,
    name: `eip155:${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: typeof rpc === "string" ? [rpc] : [] } },
  });
  const transport = typeof rpc === "string" ? rpcTransport(rpc) : rpc;
  const client = createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: pollingMs });
  const transactions = new SentTransactions({ account, chainId, client, store, log, replaceMs, pollingMs });
  let queue: Promise<unknown> = Promise.resolve();

  /** The gas to send with a call. @throws when the node estimates more than the caller allows */
  async function gasOf({ maxGas, ...call }: ContractCall): Promise<bigint> {
    const estimate = await client.estimateContractGas({ ...call, account });
    // A quarter more: the cost of a payment depends on balances that may have changed by then.
    const gas = (estimate * 5n) / 4n;
    if (maxGas === undefined || gas <= maxGas) return gas;
    if (estimate <= maxGas) return maxGas;
    throw tooMuchGas(call, estimate, maxGas);
  }

  async function sendNow(call: ContractCall, attempt: Attempt): Promise<Hex> {
    try {
      await transactions.load();
      const data = encodeFunctionData(call);
      const earlier = transactions.hashOfEarlier(call.address, data);
      if (earlier !== undefined) {
        attempt.isSent = true;
        return earlier;
      }
      const gas = call.gas ?? (await gasOf(call));
      const nonce = await transactions.nextNonce();
      const leave = (): void => {
        if (attempt.isOver) throw new Error("nobody waits for it any more");
        attempt.isSent = true;
      };
      const stay = (): void => {
        attempt.isSent = false;
      };
      return await transactions.send({ nonce, to: call.address, data, gas }, { leave, stay });
    } catch (cause) {
      if (cause instanceof ChainError && cause.code === "call_refused") throw cause;
      const error = chainError(call, cause, !attempt.isSent);
      if (error.code === "call_refused" || !isUnpaid(cause)) throw error;
      throw noGasMoney(account.address, call, error);
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

  const wait = async (hash: Hex, waitMs = WAIT_MS): Promise<TransactionReceipt> => {
    const receipt = await transactions.wait(hash, waitMs);
    if (receipt !== undefined) return receipt;
    throw new ChainError({
      code: "chain_unreachable",
      message: `Transaction ${hash} was not mined within ${waitMs / 1_000} s.`,
      hint: "It may still be mined: read the state again.",
      details: { hash },
    });
  };

  return {
    address: account.address.toLowerCase() as Address,
    client,
    send,
    wait,
    sendAndWait: async (call, waitMs) => {
      const receipt = await wait(await send(call), waitMs);
      if (receipt.status === "success") return receipt;
      const { transactionHash: hash } = receipt;
      throw new ChainError({
        code: "transaction_reverted",
        message: `${call.functionName} was reverted in transaction ${hash}.`,
        hint: "Somebody else may have sent a transaction first: read the state again.",
        details: { hash },
      });
    },
    isUnmined: (hash) => transactions.isUnmined(hash),
    unmined: async () => {
      await transactions.load();
      return transactions.unmined();
    },
    close: () => transactions.close(),
  };
}

function tooMuchGas({ functionName }: ContractCall, needed: bigint, most: bigint): ChainError {
  return new ChainError({
    code: "call_refused",
    message: `${functionName}: it needs ${needed} gas, and at most ${most} may be spent on it.`,
    hint: "Nothing was sent.",
    neverSent: true,
  });
}

function noGasMoney(
  account: Address,
  { functionName }: ContractCall,
  { neverSent, cause }: ChainError,
): ChainError {
  return new ChainError({
    code: "no_gas_money",
    message: `${account.toLowerCase()} does not have the ether that ${functionName} may cost.`,
    hint: neverSent
      ? "Nothing was sent. Give the account ether on this chain."
      : "Give the account ether on this chain. It is not known whether the transaction was sent: read the state again.",
    neverSent,
    cause,
  });
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
