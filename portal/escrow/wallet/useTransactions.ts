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
  /** The title of the oldest transaction that has not ended; null if there is none. */
  pending: string | null;
  confirmations: number;
  setConfirmations: (count: number) => void;
  add: (pending: Pending) => void;
  dismiss: (key: string) => void;
  /** Reads the stored transactions again, because a transaction may have been stored without a call of {@link add}. */
  readStored: () => void;
};

const KEY = "tallystick-confirmations";
const DEFAULT = 2;
export const MAX_CONFIRMATIONS = 100;

/**
 * Follows the transactions that the wallet was asked for. Each is followed until it ends. The stored transactions from
 * before the page was loaded are followed too.
 *
 * @param chain null while no wallet is connected; then nothing is followed
 * @param id only transactions of this escrow; null for all
 */
export function useTransactions(chain: Chain | null, id: Hex | null): TransactionsState {
  const [followed, setFollowed] = useState<readonly Followed[]>(() => storedOnes(id).map(asFollowed));
  const [finished, setFinished] = useState(0);
  const [confirmations, set] = useState(keptConfirmations);
  const keys = followed.map(({ pending }) => `${pending.key} ${pending.hash === null}`).join(" ");

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

  const readStored = useCallback(() => setFollowed((all) => merged(all, storedOnes(id))), [id]);
  // Another tab of this browser may ask the wallet for the same escrow.
  useEffect(() => {
    addEventListener("storage", readStored);
    return () => removeEventListener("storage", readStored);
  }, [readStored]);

  const add = useCallback((pending: Pending) => {
    setFollowed((all) => [...all.filter((it) => it.pending.key !== pending.key), asFollowed(pending)]);
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
  return {
    followed,
    isFollowing: chain !== null,
    finished,
    pending: followed.find(({ progress }) => !isFinal(progress))?.pending.title ?? null,
    confirmations,
    setConfirmations,
    add,
    dismiss,
    readStored,
  };
}

function storedOnes(id: Hex | null): Pending[] {
  return pendingOnes().filter((it) => id === null || it.id === id);
}

function asFollowed(pending: Pending): Followed {
  return { pending, progress: { state: pending.hash === null ? "asked" : "unseen" } };
}

/** Adds the stored transactions that are not followed, and drops those that a wallet refused in another tab. */
function merged(all: readonly Followed[], stored: readonly Pending[]): readonly Followed[] {
  const byKey = new Map(stored.map((it) => [it.key, it]));
  const kept = all.flatMap((it) => {
    const { key, hash } = it.pending;
    const now = byKey.get(key);
    byKey.delete(key);
    if (hash !== null) return [it];
    return now === undefined ? [] : [now.hash === null ? it : asFollowed(now)];
  });
  return [...kept, ...[...byKey.values()].map(asFollowed)];
}

function keptConfirmations(): number {
  try {
    const kept = Number(localStorage.getItem(KEY) ?? DEFAULT);
    return Number.isInteger(kept) && kept >= 1 && kept <= MAX_CONFIRMATIONS ? kept : DEFAULT;
  } catch {
    return DEFAULT;
  }
}
