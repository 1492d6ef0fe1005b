import { plainText } from "../../design/format.ts";
import { isProvider, type Provider } from "./provider.ts";

/** A wallet in the reader's browser. `rdns` names its maker, and the page remembers the choice by it. */
export type FoundWallet = { id: string; name: string; rdns: string; provider: Provider };

/** The most wallets. A wallet that is found after these is ignored. */
const MAX_WALLETS = 20;

/** How long to wait for wallets of EIP-6963 before looking for an old one, in milliseconds. */
const OLD_KIND_MS = 250;

/**
 * Asks for the wallets in the browser (EIP-6963), and keeps listening. A wallet that only sets
 * `window.ethereum` is used if no other wallet answers. Any extension may use any name, so names are not
 * trusted.
 *
 * @returns a function that stops the listening
 */
export function followWallets(onFound: (wallets: readonly FoundWallet[]) => void): () => void {
  let found: readonly FoundWallet[] = [];
  const add = (wallet: FoundWallet) => {
    if (found.length >= MAX_WALLETS || found.some(({ id }) => id === wallet.id)) return;
    found = [...found, wallet];
    onFound(found);
  };
  const onAnnounce = (event: Event) => {
    const wallet = walletOf((event as CustomEvent<unknown>).detail);
    if (wallet !== null) add(wallet);
  };
  addEventListener("eip6963:announceProvider", onAnnounce);
  dispatchEvent(new Event("eip6963:requestProvider"));
  const timer = setTimeout(() => {
    const { ethereum } = window as { ethereum?: unknown };
    if (found.length === 0 && isProvider(ethereum))
      add({
        id: "window.ethereum",
        name: "The browser's wallet",
        rdns: "window.ethereum",
        provider: ethereum,
      });
  }, OLD_KIND_MS);
  return () => {
    clearTimeout(timer);
    removeEventListener("eip6963:announceProvider", onAnnounce);
  };
}

/** The wallets that name the same maker as another wallet. At most one wallet of each maker is genuine. */
export function pretenders(wallets: readonly FoundWallet[]): FoundWallet[] {
  return wallets.filter(
    ({ id, rdns }) => rdns !== "" && wallets.some((other) => other.rdns === rdns && other.id !== id),
  );
}

function walletOf(detail: unknown): FoundWallet | null {
  const { info, provider } = Object(detail) as { info?: unknown; provider?: unknown };
  const { uuid, name, rdns } = Object(info) as { [field: string]: unknown };
  if (typeof uuid !== "string" || typeof name !== "string" || !isProvider(provider)) return null;
  const maker = typeof rdns === "string" ? plainText(rdns, 60) : "";
  return { id: uuid.slice(0, 60), name: plainText(name, 40).trim() || "A wallet", rdns: maker, provider };
}
