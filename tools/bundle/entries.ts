/** An entry that a page may import, and its size limit. */
export type BundleEntry = {
  name: string;
  /** The module that is bundled. */
  source: string;
  /** The most bytes that a page fetches before it runs: the entry with all that it imports statically, each file by gzip -9. */
  most: number;
};

/**
 * The limits. A page may fetch 120,000 bytes for a buyer, 5,000 to verify an inclusion and 20,000 to recover
 * a signer. All other limits are about a twelfth above the size that was measured. The buyer's limit
 * is set in the same way, so it is smaller than 120,000.
 */
export const bundleEntries: readonly BundleEntry[] = [
  { name: "buyer", source: 'export * from "tallystick-sdk/buyer";', most: 111_000 },
  { name: "seller", source: 'export * from "tallystick-sdk/seller";', most: 245_000 },
  { name: "escrow", source: 'export * from "tallystick-sdk/escrow";', most: 187_000 },
  { name: "auditor", source: 'export * from "tallystick-sdk/auditor";', most: 76_000 },
  { name: "query", source: 'export * from "tallystick-sdk/query";', most: 5_500 },
  { name: "derive", source: 'export * from "tallystick-derive";', most: 135_000 },
  { name: "openLog", source: 'export * from "tallystick-sdk/openLog";', most: 138_000 },
  {
    name: "inclusion",
    source: `export { fromHex, toHex } from "tallystick-protocol";
      export { leafHash, verifyInclusion } from "tallystick-protocol/ledger";`,
    most: 5_000,
  },
  {
    name: "signer",
    source: `export { recoverSigner } from "tallystick-protocol";
      export { signerOfText } from "tallystick-protocol/signatures/signedText";`,
    most: 20_000,
  },
  { name: "verify", source: 'export * from "tallystick-capabilities";', most: 8_600 },
];
