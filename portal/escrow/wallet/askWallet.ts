import type { Provider } from "./provider.ts";
import { type WalletCode, WalletError } from "./walletError.ts";

/** The time limit for reads by a wallet, and the time limit for a decision of the reader, in milliseconds. */
export const READING_MS = 20_000;
export const DECIDING_MS = 600_000;

type Ask = {
  method: string;
  params?: readonly unknown[];
  withinMs?: number;
  signal?: AbortSignal | undefined;
};

/**
 * Sends one request to a wallet, and waits at most `withinMs`.
 * @throws WalletError; the reason of `signal` when `signal` is aborted
 */
export async function askWallet(
  provider: Provider,
  { method, params = [], withinMs = READING_MS, signal }: Ask,
): Promise<unknown> {
  signal?.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer(method, withinMs)), withinMs);
    onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
  });
  try {
    // A wallet may throw before it returns a promise.
    const answered = (async () => await provider.request({ method, params }))();
    return await Promise.race([answered.catch((cause: unknown) => Promise.reject(refusedBy(cause))), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function noAnswer(method: string, withinMs: number): WalletError {
  return new WalletError({
    code: "no_answer",
    message: `The wallet does not answer within ${withinMs / 1_000} seconds.`,
    hint: method.startsWith("eth_send")
      ? "It may still send the transaction. Look at it before you try again."
      : "Open it: it may wait for its password, or show a window behind this one.",
  });
}

const CODES: { [code: number]: [code: WalletCode, message: string, hint: string] } = {
  4001: ["rejected", "You refused it in the wallet.", "Nothing was signed or sent."],
  4100: ["not_allowed", "The wallet does not let this page use that account.", "Connect it again."],
  4200: ["unsupported", "The wallet does not support this.", "Use another wallet."],
  4900: ["offline", "The wallet has no connection to any chain.", "Look at its network settings."],
  4901: ["offline", "The wallet has no connection to this chain.", "Look at its network settings."],
  4902: ["unknown_chain", "The wallet does not know this chain.", "Add it to the wallet."],
  [-32002]: ["busy", "The wallet already asks you something.", "Answer that first; then try again."],
  [-32601]: ["unsupported", "The wallet does not support this.", "Use another wallet."],
};

/**
 * Converts a wallet's refusal to an error (EIP-1193, EIP-1474). The cause is kept, because it may contain the
 * contract's error.
 */
function refusedBy(cause: unknown): WalletError {
  const { code, message } = Object(cause) as { code?: unknown; message?: unknown };
  const known = typeof code === "number" ? CODES[code] : code === "ACTION_REJECTED" ? CODES[4001] : undefined;
  if (known !== undefined)
    return new WalletError({ code: known[0], message: known[1], hint: known[2], cause });
  const words = typeof message === "string" ? message.slice(0, 300) : "It gives no reason.";
  return new WalletError({ code: "failed", message: `The wallet, or its chain, says: ${words}`, cause });
}
