/**
 * A part of the TypeScript, and the tests that have to notice when it is changed. Both are globs from the repository's root; quick tests
 * that notice much come first. */
export type Room = {
  name: string;
  sources: string[];
  tests: string[];
  /** What the tests are told: fewer random runs, since they are made again for every mutant. */
  environment?: { [name: string]: string };
};

/** Every part in which a change that nobody notices may cost money or truth. */
export const rooms: Room[] = [
  {
    name: "derive",
    sources: ["packages/derive/**/*.ts"],
    tests: ["test/derive/*.test.ts", "test/derive/oracle/*.test.ts"],
    environment: { DERIVE_RUNS: "100" },
  },
  {
    name: "protocol",
    sources: ["packages/protocol/**/*.ts", "!packages/protocol/abi/**", "!packages/capabilities/**"],
    tests: ["test/protocol/**/*.test.ts"],
  },
  {
    name: "settlement",
    sources: ["services/settlement/{engine,ledger,anchoring,proofs,keys,claims}/**/*.ts"],
    tests: [
      "test/settlement/{engine,ledger,routes,anchoring,keys,signatures}/*.test.ts",
      "test/settlement/{pulse,histories,restoredCopy,keyRotation,succession}.test.ts",
    ],
  },
  {
    name: "sdk",
    sources: ["packages/sdk/{budget,buyer,chain,escrow,seller,store,x402}/**/*.ts"],
    tests: ["test/sdk/*.test.ts", "!test/sdk/{soak,pack,sellerProcess,endAtEveryWrite}.test.ts"],
  },
  {
    name: "verifiers",
    sources: ["packages/capabilities/**/*.ts"],
    tests: ["test/capabilities/**/*.test.ts"],
  },
];
