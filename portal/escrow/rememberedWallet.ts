const KEY = "tallystick-wallet";

/**
 * The `rdns` of the wallet that the reader connected last, which names its maker. So the page can connect the wallet
 * again. Null if there is none.
 */
export function rememberedWallet(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param rdns with null, the stored wallet is forgotten */
export function rememberWallet(rdns: string | null): void {
  try {
    if (rdns === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, rdns);
  } catch {
    // Without storage the reader chooses the wallet again next time.
  }
}
