const KEY = "tallystick-wallet";

/**
 * The maker of the wallet that the reader connected last, so that the page can connect it again; null if
 * there is none.
 */
export function rememberedWallet(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param rdns null forgets it */
export function rememberWallet(rdns: string | null): void {
  try {
    if (rdns === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, rdns);
  } catch {
    // Without storage the reader chooses the wallet again next time.
  }
}
