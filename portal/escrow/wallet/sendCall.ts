import type { Hex } from "tallystick-protocol/hex";
import { askWallet, DECIDING_MS } from "./askWallet.ts";
import { type Call, type Chain, isAddressText, isHexText, toQuantity } from "./createChain.ts";
import { forgetPending, keepPending, type Pending } from "./pendingStore.ts";
import type { Provider } from "./provider.ts";
import { requireChain } from "./readGround.ts";
import { WalletError } from "./walletError.ts";

/**
 * The accounts that a wallet shows to this page, in lower case, the active one first. `isAsked`: the wallet
 * may ask the reader for permission.
 */
export async function readAccounts(
  provider: Provider,
  isAsked: boolean,
  signal?: AbortSignal,
): Promise<Hex[]> {
  const answer = await askWallet(provider, {
    method: isAsked ? "eth_requestAccounts" : "eth_accounts",
    ...(isAsked && { withinMs: DECIDING_MS }),
    signal,
  });
  if (!Array.isArray(answer) || !answer.every(isAddressText)) {
    throw new WalletError({
      code: "bad_answer",
      message: "The wallet answers with something that is not a list of accounts.",
      hint: "Use another wallet.",
    });
  }
  return answer.slice(0, 100).map((it) => it.toLowerCase() as Hex);
}

/**
 * Asks the wallet to send a transaction that was simulated before. The transaction is stored before the wallet is
 * asked, so that the page knows it after a reload.
 *
 * @param signal cancels this until the wallet is asked for the transaction
 * @throws WalletError. If the transaction may have been sent, the error's text says so
 */
export async function sendCall(
  { provider, chain, signal }: { provider: Provider; chain: Chain; signal?: AbortSignal | undefined },
  { call, title, id, chainId }: { call: Call; title: string; id: Hex; chainId: number },
): Promise<Pending> {
  const from = call.from as Hex;
  // The reader may have changed the account or the chain since the check.
  await requireAccount(provider, from, signal);
  await requireChain(chain, chainId);
  // After this line the wallet is asked in any case, and closing the dialogue changes nothing.
  signal?.throwIfAborted();
  const pending: Pending = {
    key: crypto.randomUUID(),
    title,
    id,
    chainId,
    from,
    to: call.to,
    data: call.data,
    at: Date.now(),
    startBlock: Number(await chain.blockNumber()),
    hash: null,
    nonce: null,
  };
  keepPending(pending);
  let hash: unknown;
  try {
    // If the wallet has changed its chain meanwhile, it refuses a transaction for the earlier chain.
    const transaction = { ...call, value: "0x0", chainId: toQuantity(BigInt(chainId)) };
    hash = await askWallet(provider, {
      method: "eth_sendTransaction",
      params: [transaction],
      withinMs: DECIDING_MS,
    });
  } catch (error) {
    const isSure = error instanceof WalletError && error.code !== "no_answer";
    if (isSure) forgetPending(pending.key);
    throw error;
  }
  if (!isHexText(hash) || hash.length !== 66) {
    throw new WalletError({
      code: "bad_answer",
      message: "The wallet answers with something that is not a transaction's hash.",
      hint: "It may have sent the transaction. Look at it, and at the escrow, before you try again.",
    });
  }
  const sent = { ...pending, hash: hash.toLowerCase() as Hex };
  keepPending(sent);
  return sent;
}

/** @throws WalletError `other_account` when the wallet's active account is another than the page shows */
export async function requireAccount(provider: Provider, account: Hex, signal?: AbortSignal): Promise<void> {
  const [first] = await readAccounts(provider, false, signal);
  if (first === account) return;
  throw new WalletError({
    code: "other_account",
    message: "The wallet uses another account now.",
    hint: "Nothing was sent. Read what is open to that account, or change it back.",
  });
}
