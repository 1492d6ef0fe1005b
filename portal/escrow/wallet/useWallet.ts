import { useEffect, useMemo, useState } from "preact/hooks";
import type { Hex } from "tallystick-protocol/hex";
import { rememberedWallet, rememberWallet } from "../rememberedWallet.ts";
import { type Chain, createChain } from "./createChain.ts";
import { type FoundWallet, followWallets, pretenders } from "./followWallets.ts";
import { listenTo } from "./listenTo.ts";
import { readAccounts } from "./sendCall.ts";
import { asWalletError, type WalletError } from "./walletError.ts";

/** A connected wallet, with the reader's account and access to its chain. */
export type Connected = { wallet: FoundWallet; account: Hex; chain: Chain };

export type WalletState = {
  wallets: readonly FoundWallet[];
  connected: Connected | null;
  /** The wallet that was asked to connect and has not answered yet. */
  asking: FoundWallet | null;
  error: WalletError | null;
  /** The number of changes of chain or account. After each change everything is read again. */
  changes: number;
  connect: (wallet: FoundWallet) => void;
  leave: () => void;
};

/** `isAgain`: it was connected in an earlier visit, and the reader was not asked now. */
type Used = { wallet: FoundWallet; account: Hex; isAgain: boolean };

/**
 * The wallets in the browser, and the one that the reader connected. A wallet from an earlier visit is
 * connected again without a question.
 */
export function useWallet(): WalletState {
  const [wallets, setWallets] = useState<readonly FoundWallet[]>([]);
  const [used, setUsed] = useState<Used | null>(null);
  const [asking, setAsking] = useState<FoundWallet | null>(null);
  const [error, setError] = useState<WalletError | null>(null);
  const [changes, setChanges] = useState(0);

  useEffect(() => {
    let isOver = false;
    const stop = followWallets((found) => {
      setWallets(found);
      const last = found.at(-1);
      if (last === undefined || last.rdns === "" || last.rdns !== rememberedWallet()) return;
      // Any extension can give any maker's name. If two wallets give the same name, the reader has to choose.
      if (pretenders(found).includes(last)) {
        isOver = true;
        setUsed((now) => (now?.isAgain === true ? null : now));
        return;
      }
      readAccounts(last.provider, false).then(
        ([account]) =>
          !isOver &&
          account !== undefined &&
          setUsed((now) => now ?? { wallet: last, account, isAgain: true }),
        // If this fails, the wallet is offered like the others.
        () => {},
      );
    });
    return () => {
      isOver = true;
      stop();
    };
  }, []);

  const provider = used?.wallet.provider;
  useEffect(() => {
    if (provider === undefined) return;
    const onAccounts = (accounts: unknown) => {
      const [first] = Array.isArray(accounts) ? accounts : [];
      const account =
        typeof first === "string" && /^0x[0-9a-fA-F]{40}$/.test(first) ? (first.toLowerCase() as Hex) : null;
      setUsed((now) => (now === null || account === null ? null : { ...now, account }));
      setChanges((it) => it + 1);
    };
    const onChain = () => setChanges((it) => it + 1);
    const stops = [
      listenTo(provider, "accountsChanged", onAccounts),
      listenTo(provider, "chainChanged", onChain),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [provider]);

  const connect = (wallet: FoundWallet) => {
    setError(null);
    setAsking(wallet);
    readAccounts(wallet.provider, true)
      .then(([account]) => {
        if (account === undefined) return;
        if (wallet.rdns !== "") rememberWallet(wallet.rdns);
        setUsed({ wallet, account, isAgain: false });
      })
      .catch((cause: unknown) => setError(asWalletError(cause)))
      .finally(() => setAsking((now) => (now === wallet ? null : now)));
  };
  const leave = () => {
    rememberWallet(null);
    setUsed(null);
  };
  const connected = useMemo(
    () => (used === null ? null : { ...used, chain: createChain(used.wallet.provider) }),
    [used],
  );
  return { wallets, connected, asking, error, changes, connect, leave };
}
