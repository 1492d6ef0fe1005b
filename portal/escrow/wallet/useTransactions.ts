import { useCallback, useEffect, useState } from "preact/hooks";
import type { Hex } from "tallystick-protocol/hex";
import type { Chain } from "./createChain.ts";
import { followTransaction, isFinal, type Progress } from "./followTransaction.ts";
import { forgetPending, type Pending, pendingOnes } from "./pendingStore.ts";

export type Followed = { pending: Pending; progress: Progress };

export type TransactionsState = {
  followed: readonly Followed[];
  /** Whether a wallet is connected, through which the transactions are followed. */
  isFollowing: boolean;
  /** The number of transactions that have ended. When it grows, data that was read before may be old. */
  finished: number;
  confirmations: number;
  setConfirmations: (count: number) => void;
  add: (pending: Pending) => void;
  dismiss: (key: string) => void;
};

const KEY = "tallystick-confirmations";
const DEFAULT = 2;
export const MAX_CONFIRMATIONS = 100;

/**
 * Follows the transactions that the wallet was asked for until they end, also those from before the page was
 * loaded.
 *
 * @param chain null while no wallet is connected; then nothing is followed
 * @param id only transactions of this escrow; null for all
 */
export function useTransactions(chain: Chain | null, id: Hex | null): TransactionsState {
  const [followed, setFollowed] = useState<readonly Followed[]>(() =>
    pendingOnes()
      .filter((it) => id === null || it.id === id)
      .map((pending) => ({ pending, progress: { state: pending.hash === null ? "asked" : "unseen" } })),
  );
  const [finished, setFinished] = useState(0);
  const [confirmations, set] = useState(keptConfirmations);
  const keys = followed.map(({ pending }) => pending.key).join(" ");

  useEffect(() => {
    if (chain === null) return;
    const control = new AbortController();
    for (const { pending, progress } of followed) {
      if (isFinal(progress)) continue;
      const onProgress = (progress: Progress, pending: Pending) => {
        if (isFinal(progress)) {
          forgetPending(pending.key);
          setFinished((it) => it + 1);
        }
        setFollowed((all) => all.map((it) => (it.pending.key === pending.key ? { pending, progress } : it)));
      };
      void followTransaction({ chain, pending, confirmations, onProgress, signal: control.signal });
    }
    return () => control.abort();
    // `keys` stands for `followed`: the effect must not run again when only the progress changes.
  }, [chain, keys, confirmations]);

  const add = useCallback((pending: Pending) => {
    setFollowed((all) => [...all, { pending, progress: { state: "unseen" } }]);
  }, []);
  const dismiss = useCallback((key: string) => {
    forgetPending(key);
    setFollowed((all) => all.filter((it) => it.pending.key !== key));
  }, []);
  const setConfirmations = (count: number) => {
    const whole = Math.min(Math.max(Math.floor(count) || 1, 1), MAX_CONFIRMATIONS);
    set(whole);
    try {
      localStorage.setItem(KEY, String(whole));
    } catch {
      // If the browser refuses storage, the setting is lost when the page is closed.
    }
  };
  return { followed, isFollowing: chain !== null, finished, confirmations, setConfirmations, add, dismiss };
}

function keptConfirmations(): number {
  try {
    const kept = Number(localStorage.getItem(KEY) ?? DEFAULT);
    return Number.isInteger(kept) && kept >= 1 && kept <= MAX_CONFIRMATIONS ? kept : DEFAULT;
  } catch {
    return DEFAULT;
  }
}
