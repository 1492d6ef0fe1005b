import type { Hex } from "tallystick-protocol/hex";
import type { Chain, SentTransaction } from "./createChain.ts";
import { keepPending, type Pending } from "./pendingStore.ts";

/**
 * The state of a transaction. `asked`: the wallet was asked for it and returned no hash. `unseen`: the chain does not
 * know it yet. `waiting`: it waits for a block. `unsure`: the chain could not be read. `elsewhere`: the wallet is on
 * another chain now, so its state is unknown. `replaced`: another transaction of the account has its nonce. `same`: the
 * other transaction makes the same call at another price. `cancelled`: the other transaction does nothing.
 */
export type Progress =
  | { state: "asked" | "unseen" | "waiting" | "elsewhere" }
  | { state: "unsure"; reason: string }
  | { state: "confirming"; block: number; confirmations: number }
  | { state: "done" | "reverted"; block: number }
  | { state: "replaced"; by: Hex | null; as: "same" | "cancelled" | "other" | "unknown" };

/** Whether a state is final. */
export function isFinal({ state, ...progress }: Progress): boolean {
  if (state === "replaced") return (progress as { as: string }).as !== "same";
  return state === "done" || state === "reverted";
}

/** The interval for reading the chain, in milliseconds. */
const EVERY_MS = 1_500;

export type Follow = {
  chain: Chain;
  pending: Pending;
  /** The number of confirmations after which a transaction counts as done, including its own block. */
  confirmations: number;
  /**
   * This function also gets the transaction, because its hash changes when it is sent again at another price.
   */
  onProgress: (progress: Progress, pending: Pending) => void;
  signal: AbortSignal;
};

/**
 * Follows a transaction until it is done, failed or replaced. If a reorganisation drops it, it is waiting
 * again. Errors of the chain are reported as `unsure`, and the
 * transaction is still followed.
 */
export async function followTransaction({
  chain,
  confirmations,
  onProgress,
  signal,
  ...it
}: Follow): Promise<void> {
  let { pending } = it;
  while (!signal.aborted) {
    try {
      const [progress, next] = await look(chain, pending, confirmations);
      if (signal.aborted) return;
      if (next !== pending) keepPending(next);
      pending = next;
      onProgress(progress, pending);
      if (isFinal(progress)) return;
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      onProgress({ state: "unsure", reason }, pending);
    }
    await pause(EVERY_MS, signal);
  }
}

async function look(chain: Chain, pending: Pending, confirmations: number): Promise<[Progress, Pending]> {
  const { hash, from, chainId } = pending;
  if (hash === null) return [{ state: "asked" }, pending];
  // The wallet is on another chain, where this transaction and the account's nonce mean nothing.
  if ((await chain.chainId()) !== chainId) return [{ state: "elsewhere" }, pending];
  const mined = await minedProgress(chain, hash, confirmations);
  if (mined !== null) return [mined, pending];
  const sent = await chain.transaction(hash);
  const known = sent === null ? pending : { ...pending, nonce: Number(sent.nonce) };
  const next = known.nonce === pending.nonce ? pending : known;
  if (sent !== null && sent.block !== null) return [{ state: "waiting" }, next];
  if (next.nonce === null) return [{ state: "unseen" }, next];
  if ((await chain.nonce(from)) <= BigInt(next.nonce)) return [{ state: "waiting" }, next];
  // The account used this nonce already. The receipt is read once more, because it may have arrived
  // meanwhile.
  if ((await chain.receipt(hash)) !== null) return [{ state: "waiting" }, next];
  const other = await findReplacement(chain, next);
  if (other === null) return [{ state: "replaced", by: null, as: "unknown" }, next];
  if (other.hash === hash) return [{ state: "waiting" }, next];
  const as = kindOf(other, next);
  return [{ state: "replaced", by: other.hash, as }, as === "same" ? { ...next, hash: other.hash } : next];
}

async function minedProgress(chain: Chain, hash: Hex, confirmations: number): Promise<Progress | null> {
  const receipt = await chain.receipt(hash);
  if (receipt === null) return null;
  const block = Number(receipt.block);
  const over = Number(await chain.blockNumber()) - block + 1;
  if (over < confirmations) return { state: "confirming", block, confirmations: Math.max(over, 1) };
  return { state: receipt.isDone ? "done" : "reverted", block };
}

function kindOf(other: SentTransaction, { from, to, data }: Pending): "same" | "cancelled" | "other" {
  if (other.to === to && other.data === data.toLowerCase()) return "same";
  return other.to === from && other.data === "0x" ? "cancelled" : "other";
}

/**
 * Finds the transaction that used the nonce. It is in the first block after which the account's next nonce is higher.
 * Null if it is not found, or if the node has no old states.
 */
async function findReplacement(
  chain: Chain,
  { from, nonce, startBlock }: Pending,
): Promise<SentTransaction | null> {
  try {
    let [low, high] = [BigInt(startBlock), await chain.blockNumber()];
    while (low < high) {
      const middle = (low + high) / 2n;
      if ((await chain.nonce(from, middle)) > BigInt(nonce ?? 0)) high = middle;
      else low = middle + 1n;
    }
    const transactions = await chain.transactionsOf(low);
    return transactions.find((it) => it.from === from && it.nonce === BigInt(nonce ?? 0)) ?? null;
  } catch {
    // A node without old states cannot answer this. The escrow itself shows what happened.
    return null;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
