/** A wallet of an exchange, and the name of this wallet. */
type KnownHub = { address: `0x${string}`; name: string };

/**
 * Wallets from which exchanges pay out to everybody. So money from them does not show a common owner. The
 * exchanges have the keys of these wallets on every EVM chain. Each wallet is in the list `cex_evms_addresses` of
 * Dune's Spellbook (github.com/duneanalytics/spellbook). The sources of that list are explorers and the
 * exchanges' own proofs of reserves. A short list is enough, because the node also counts transfers: once a wallet has
 * sent `hubTransfers` transfers (a parameter of the node), its later transfers fund nobody.
 */
export const HUBS_OF_BASE: readonly KnownHub[] = [
  { address: "0x28c6c06298d514db089934071355e5743bf21d60", name: "Binance 14" },
  { address: "0x21a31ee1afc51d94c2efccaa2092ad1028285549", name: "Binance 15" },
  { address: "0xdfd5293d8e347dfe59e90efd55b2956a1343963d", name: "Binance 16" },
  { address: "0x3304e22ddaa22bcdc5fca2269b418046ae7b566a", name: "Binance 76" },
  { address: "0xf89d7b9c864f589bbf53a82105107622b35eaa40", name: "Bybit, hot wallet" },
  { address: "0xbaed383ede0e5d9d72430661f3285daa77e9439f", name: "Bybit, hot wallet 6" },
  { address: "0xa9d1e08c7793af67e9d92fe308d5697fb81d3e43", name: "Coinbase 10" },
  { address: "0x0d0707963952f2fba59dd06f2b425ace40b492fe", name: "Gate.io 1" },
];
