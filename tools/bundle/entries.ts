/** What a page may import, and how large it may be. */
export type BundleEntry = {
  name: string;
  /** The module that is bundled. */
  source: string;
  /** Most bytes that a page fetches before it runs: the entry with all that it imports statically, each file by gzip -9. */
  most: number;
};

const everythingOf = (...modules: string[]): string =>
  modules.map((name) => `export * from "${name}";`).join("\n");

/**
 * The limits of buyer, inclusion and signer are what a page can be asked to fetch; those of the others keep what they
 * weigh: about a twentieth above what was measured when they were written down.
 */
export const bundleEntries: readonly BundleEntry[] = [
  { name: "buyer", source: everythingOf("tallystick-sdk/createBuyer"), most: 120_000 },
  { name: "seller", source: everythingOf("tallystick-sdk/createSeller"), most: 135_000 },
  {
    name: "escrow",
    source: everythingOf(
      "tallystick-protocol/escrow/hire",
      "tallystick-sdk/escrow/escrowCalls",
      "tallystick-sdk/escrow/httpRelay",
      "tallystick-sdk/escrow/keeper",
      "tallystick-sdk/escrow/readEscrowState",
      "tallystick-sdk/escrow/signEscrow",
    ),
    most: 92_000,
  },
  { name: "query", source: everythingOf("tallystick-sdk/query/createQueryClient"), most: 3_500 },
  {
    name: "derive",
    source: everythingOf(
      "tallystick-derive/apply",
      "tallystick-derive/memoryStore",
      "tallystick-derive/parseEvent",
      "tallystick-derive/snapshot",
    ),
    most: 74_000,
  },
  {
    name: "inclusion",
    source: everythingOf(
      "tallystick-protocol/hex",
      "tallystick-protocol/merkle/hash",
      "tallystick-protocol/merkle/verifyInclusion",
    ),
    most: 5_000,
  },
  {
    name: "signer",
    source: everythingOf(
      "tallystick-protocol/signatures/recoverSigner",
      "tallystick-protocol/signatures/signedText",
    ),
    most: 20_000,
  },
  {
    name: "verify",
    source: everythingOf("tallystick-capabilities/checkInput", "tallystick-capabilities/verifyOutput"),
    most: 30_500,
  },
];
