/**
 * A part of the TypeScript, and the tests that must notice changes in it. Both are globs from the repository's
 * root. Fast tests that notice much come first.
 */
export type Room = {
  name: string;
  sources: string[];
  tests: string[];
  /**
   * The time limit of a test, in milliseconds, for rooms whose tests are all quick. A mutant that makes a test wait
   * forever is noticed after this time. Otherwise Stryker ends the process later, and starts it again.
   */
  longestTestMs?: number;
  /**
   * Environment variables of the tests. They reduce the random runs, because the tests run again for every
   * mutant.
   */
  environment?: { [name: string]: string };
};

/**
 * Every part in which an unnoticed change may cost money or make a published number wrong. `ledgers` is a part of
 * `protocol`, and `payments` of `sdk`: their tests need no chain, so a run of them takes minutes.
 */
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
    name: "ledgers",
    sources: ["packages/protocol/{ledger,merkle,note,proof}/*.ts"],
    tests: ["test/protocol/{ledger,merkle,note,proof}/*.test.ts"],
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
    name: "payments",
    sources: [
      "packages/sdk/buyer/{escrowPayment,hireByKey,judgeTerms,keptHires,reports,resumeHires}.ts",
      "packages/sdk/seller/receiptOutbox.ts",
    ],
    tests: ["test/sdk/{hireByKey,escrowPayment,outboxes,resumedMoney}.test.ts"],
    longestTestMs: 20_000,
  },
  {
    name: "verifiers",
    sources: ["packages/capabilities/**/*.ts"],
    tests: ["test/capabilities/**/*.test.ts"],
  },
];
