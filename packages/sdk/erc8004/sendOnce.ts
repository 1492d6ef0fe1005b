import {
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  serializeTransaction,
  type TransactionReceipt,
} from "viem";
import type { ContractCall } from "../chain/transactionSender.ts";
import { startDeadline } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import { type GasCost, quoteGas } from "./quoteGas.ts";
import type { ChainReader } from "./registries.ts";

/** How long to wait for a transaction, in milliseconds. */
const MINED_MS = 120_000;

/** How often a call is tried while other transactions of the account take its nonce. */
const MAX_TRIES = 3;

export type SendOnceParameters<Found> = {
  client: ChainReader;
  account: LocalAccount;
  chainId: number;
  call: ContractCall;
  /** Looks for the result of an earlier call, as of a block. */
  find: (block: bigint) => Promise<Found | undefined>;
  /** Called with the cost before anything is signed. If it returns false, nothing is sent. */
  agree: (cost: GasCost) => boolean | Promise<boolean>;
  /** Milliseconds between two looks for the receipt. Default 1,000. */
  pollingMs?: number | undefined;
  /** How long to wait for the transaction, in milliseconds. Default 120,000. */
  minedMs?: number | undefined;
};

/**
 * The outcome: it was done before, the caller did not agree to the cost, or it was sent and is in a block.
 */
export type SentOnce<Found> =
  | { status: "found"; found: Found }
  | { status: "quoted"; cost: GasCost }
  | { status: "sent"; cost: GasCost; receipt: TransactionReceipt };

/**
 * Sends a transaction that must be on the chain only once, even if a caller tries again after a timeout.
 *
 * The nonce is read first, then the chain is searched as of the same block, and the transaction carries that
 * nonce. If two calls both find nothing, their transactions have the same nonce, so the chain takes only one
 * of them. The call is simulated before anything is signed, so a call that would fail costs nothing.
 *
 * @throws ChainError `call_refused`, `transaction_pending` (call again: it is looked for first),
 * `transaction_reverted`, `chain_unreachable`
 */
export async function sendOnce<Found>(parameters: SendOnceParameters<Found>): Promise<SentOnce<Found>> {
  const { client, account, find, agree } = parameters;
  for (let tries = 1; ; tries++) {
    const block = await client.getBlockNumber({ cacheTime: 0 });
    const nonce = await client.getTransactionCount({ address: account.address, blockNumber: block });
    const found = await find(block);
    if (found !== undefined) return { status: "found", found };
    const data = encodeFunctionData(parameters.call);
    const gas = await simulate(parameters);
    const cost = await quoteGas(client, { to: parameters.call.address, data, gas });
    if (!(await agree(cost))) return { status: "quoted", cost };
    const hash = await send(parameters, { data, nonce, cost });
    const receipt = hash && (await mined(parameters, hash));
    if (receipt) return { status: "sent", cost, receipt };
    // Another transaction took the nonce meanwhile. Perhaps another call has sent the same transaction.
    if (tries === MAX_TRIES) throw pending(parameters.call.functionName, undefined);
  }
}

async function simulate<Found>({ client, account, call }: SendOnceParameters<Found>): Promise<bigint> {
  try {
    // A quarter more gas than the estimate, because the cost depends on the state of the contract at that
    // time.
    return ((await client.estimateContractGas({ ...call, account: account.address })) * 5n) / 4n;
  } catch (cause) {
    const reverted =
      cause instanceof BaseError
        ? cause.walk((it) => it instanceof ContractFunctionRevertedError)
        : undefined;
    const { reason, data } = (reverted ?? {}) as { reason?: string; data?: { errorName: string } };
    const words =
      data?.errorName ?? reason ?? (cause instanceof BaseError ? cause.shortMessage : String(cause));
    throw new ChainError({
      code: reverted ? "call_refused" : "chain_unreachable",
      message: `${call.functionName}: ${words}`,
      hint: "Nothing was sent.",
      neverSent: true,
      cause,
    });
  }
}

/** Signs and sends the transaction, and returns its hash. Returns undefined when the nonce is already used. */
async function send<Found>(
  { client, account, chainId, call }: SendOnceParameters<Found>,
  { data, nonce, cost }: { data: Hex; nonce: number; cost: GasCost },
): Promise<Hex | undefined> {
  const { gas, maxFeePerGas, maxPriorityFeePerGas } = cost;
  const fields = { type: "eip1559", chainId, nonce, to: call.address, data, gas } as const;
  const serializedTransaction = await account.signTransaction(
    { ...fields, maxFeePerGas, maxPriorityFeePerGas },
    { serializer: serializeTransaction },
  );
  try {
    return await client.sendRawTransaction({ serializedTransaction });
  } catch (cause) {
    const text = String((cause as BaseError).details ?? cause).toLowerCase();
    if (text.includes("nonce too low") || text.includes("nonce has already been used")) return undefined;
    if (text.includes("insufficient funds")) {
      throw new ChainError({
        code: "no_gas_money",
        message: `${account.address} does not have the ${cost.totalEth} ETH that ${call.functionName} may cost.`,
        hint: "Nothing was sent. Give the account ether on this chain.",
        neverSent: true,
        cause,
      });
    }
    // Each kind of node words this refusal differently. But all of them count pending transactions, so the
    // count shows that a transaction with this nonce is waiting.
    const { address } = account;
    const waiting = await client.getTransactionCount({ address, blockTag: "pending" }).catch(() => 0);
    if (waiting > nonce) throw pending(call.functionName, cause);
    throw new ChainError({
      code: "chain_unreachable",
      message: `${call.functionName}: ${cause instanceof BaseError ? cause.shortMessage : String(cause)}`,
      hint: "It is not known whether the transaction was sent. Call again: the call searches the chain first, so nothing is posted twice.",
      cause,
    });
  }
}

/** Waits for the transaction. Returns undefined when another call is in a block with its nonce. */
async function mined<Found>(
  parameters: SendOnceParameters<Found>,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const { client, call, pollingMs = 1_000, minedMs = MINED_MS } = parameters;
  const limit = startDeadline(minedMs);
  let isOther = false;
  try {
    const receipt = await client
      .waitForTransactionReceipt({
        hash,
        pollingInterval: pollingMs,
        timeout: Math.max(1, limit.left()),
        // viem then returns the receipt of the transaction that took the nonce. A repriced one has the same call.
        onReplaced: ({ reason }) => {
          isOther = reason !== "repriced";
        },
      })
      .catch((cause) => {
        throw pending(call.functionName, cause, hash);
      });
    if (isOther) return undefined;
    if (receipt.status === "success") return receipt;
    throw new ChainError({
      code: "transaction_reverted",
      message: `${call.functionName} was reverted in transaction ${hash}.`,
      hint: "Its effects were undone, and its gas is spent. Call again: everything is read again.",
      details: { hash },
    });
  } finally {
    limit.end();
  }
}

function pending(functionName: string, cause: unknown, hash?: Hex): ChainError {
  return new ChainError({
    code: "transaction_pending",
    message: `${functionName}: a transaction of this account ${hash ?? "with the same nonce"} is pending, or already in a block.`,
    hint: "Call again later: the call searches the chain first, so nothing is posted twice.",
    ...(hash !== undefined && { details: { hash } }),
    cause,
  });
}
