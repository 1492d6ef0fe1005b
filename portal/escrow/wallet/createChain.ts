import type { Hex } from "tallystick-protocol/hex";
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeFunctionResult,
  encodeFunctionData,
} from "viem";
import { askWallet } from "./askWallet.ts";
import type { Provider } from "./provider.ts";
import { WalletError } from "./walletError.ts";

/** A call in the form that wallets accept. */
export type Call = { from?: Hex; to: Hex; data: Hex; value?: Hex; gas?: Hex };

/** The outcome of a transaction. */
export type Receipt = { block: bigint; isDone: boolean; from: Hex; to: Hex | null };

/** A transaction as the chain has it; `block` is null while it waits. */
export type SentTransaction = {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  data: Hex;
  value: bigint;
  nonce: bigint;
  block: bigint | null;
};

export type Chain = ReturnType<typeof createChain>;

/** The longest accepted answer, in characters: `0x` and 65,536 bytes. No contract has so much code (EIP-170). */
const MAX_HEX_LENGTH = 2 + 2 * 65_536;

/**
 * Reads the chain through a wallet's provider. The form of every answer is checked, so a faulty provider is
 * distinguished from a chain that refuses.
 */
export function createChain(provider: Provider, signal?: AbortSignal) {
  const ask = (method: string, params: readonly unknown[] = []) =>
    askWallet(provider, { method, params, signal });
  const hex = async (method: string, params: readonly unknown[], size?: number): Promise<Hex> => {
    const answer = await ask(method, params);
    if (!isHexText(answer) || (size !== undefined && answer.length !== 2 + 2 * size)) throw badAnswer(method);
    return answer.toLowerCase() as Hex;
  };
  const quantity = async (method: string, params: readonly unknown[] = []): Promise<bigint> =>
    quantityOf(await ask(method, params), method);
  const call = (tx: Call) => hex("eth_call", [tx, "latest"]);

  return {
    chainId: async () => Number(await quantity("eth_chainId")),
    code: (address: Hex) => hex("eth_getCode", [address, "latest"]),
    call,
    balance: (address: Hex) => quantity("eth_getBalance", [address, "latest"]),
    gasPrice: () => quantity("eth_gasPrice"),
    estimateGas: (tx: Call) => quantity("eth_estimateGas", [tx]),
    blockNumber: () => quantity("eth_blockNumber"),
    /**
     * The number of transactions that an account had sent up to a block; with `pending` also those that still
     * wait.
     */
    nonce: (address: Hex, at: bigint | "latest" | "pending" = "latest") =>
      quantity("eth_getTransactionCount", [address, typeof at === "bigint" ? toQuantity(at) : at]),
    /** The time of the last block, in unix seconds. */
    time: async (): Promise<number> => {
      const block = Object(await ask("eth_getBlockByNumber", ["latest", false])) as { timestamp?: unknown };
      return Number(quantityOf(block.timestamp, "eth_getBlockByNumber"));
    },
    /** The transactions of a block. */
    transactionsOf: async (block: bigint): Promise<SentTransaction[]> => {
      const { transactions } = Object(await ask("eth_getBlockByNumber", [toQuantity(block), true])) as {
        transactions?: unknown;
      };
      if (!Array.isArray(transactions)) throw badAnswer("eth_getBlockByNumber");
      return transactions.map((it) => sentOf(it, "eth_getBlockByNumber"));
    },
    transaction: async (hash: Hex): Promise<SentTransaction | null> => {
      const answer = await ask("eth_getTransactionByHash", [hash]);
      return answer === null || answer === undefined ? null : sentOf(answer, "eth_getTransactionByHash");
    },
    receipt: async (hash: Hex): Promise<Receipt | null> => {
      const answer = await ask("eth_getTransactionReceipt", [hash]);
      return answer === null || answer === undefined ? null : receiptOf(answer, hash);
    },
    /** Calls a view function of a contract. */
    read: async <const abi extends Abi, name extends ContractFunctionName<abi, "view" | "pure">>(
      address: Hex,
      abi: abi,
      functionName: name,
      args: ContractFunctionArgs<abi, "view" | "pure", name>,
    ) => {
      const parameters = { abi, functionName, args };
      const data = await call({ to: address, data: encodeFunctionData(parameters as never) });
      try {
        return decodeFunctionResult({ ...parameters, data } as never) as never;
      } catch {
        throw badAnswer(`eth_call of ${functionName}`);
      }
    },
  };
}

export function isHexText(value: unknown): value is Hex {
  return typeof value === "string" && value.length <= MAX_HEX_LENGTH && /^0x(?:[0-9a-fA-F]{2})*$/.test(value);
}

/** Whether a value has the form of an address. */
export function isAddressText(value: unknown): value is Hex {
  return isHexText(value) && value.length === 42;
}

/** The error for an answer of the wrong form. */
export function badAnswer(method: string): WalletError {
  return new WalletError({
    code: "bad_answer",
    message: `The wallet answers ${method} with something that is not an answer to it.`,
    hint: "Its network settings may name something that is not a node of this chain. Nothing more is asked of it.",
  });
}

export function toQuantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

function quantityOf(value: unknown, method: string): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw badAnswer(method);
  return BigInt(value);
}

function receiptOf(value: unknown, hash: Hex): Receipt {
  const method = "eth_getTransactionReceipt";
  const { transactionHash, blockNumber, status, from, to } = Object(value) as { [field: string]: unknown };
  if (String(transactionHash).toLowerCase() !== hash || !isAddressText(from)) throw badAnswer(method);
  const isDone = quantityOf(status, method) === 1n;
  return {
    block: quantityOf(blockNumber, method),
    isDone,
    from: lower(from),
    to: isAddressText(to) ? lower(to) : null,
  };
}

function sentOf(value: unknown, method: string): SentTransaction {
  const {
    hash,
    from,
    to,
    input,
    data,
    value: sum,
    nonce,
    blockNumber,
  } = Object(value) as {
    [field: string]: unknown;
  };
  const bytes = input ?? data;
  if (!isHexText(hash) || hash.length !== 66 || !isAddressText(from) || typeof bytes !== "string")
    throw badAnswer(method);
  return {
    hash: lower(hash),
    from: lower(from),
    to: isAddressText(to) ? lower(to) : null,
    data: lower(bytes as Hex),
    value: quantityOf(sum, method),
    nonce: quantityOf(nonce, method),
    block: blockNumber === null || blockNumber === undefined ? null : quantityOf(blockNumber, method),
  };
}

function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
