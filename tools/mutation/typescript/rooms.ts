/**
 * A part of the TypeScript, and the tests that must notice changes in it. Both are globs from the repository's
 * root. A glob that begins with `!` leaves files out. The tests are the quick ones about these sources: a mutant that
 * nobody notices costs the time of every test that reaches it.
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

const derive = (name: string, sources: string[], tests: string[]): Room => ({
  name: `derive/${name}`,
  sources: sources.map((one) => one.replace(/^(!?)/, "$1packages/derive/")),
  tests: tests.map((one) => `test/derive/${one}.test.ts`),
  longestTestMs: 60_000,
  environment: { DERIVE_RUNS: "40", AUDIT_RUNS: "6", RELEVANT_RUNS: "20" },
});

const protocol = (name: string, sources: string[], tests: string[]): Room => ({
  name: `protocol/${name}`,
  sources: sources.map((one) => one.replace(/^(!?)/, "$1packages/protocol/")),
  tests: tests.map((one) => `test/protocol/${one}.test.ts`),
  longestTestMs: 60_000,
});

/** The files of the derivation that say what a hire is, and what it is worth. The others keep rows and read logs. */
const HIRES =
  "{hires,hireId,hireKeys,receipts,receiptCounted,receiptRow,payments,outcome,escrows,ratings,telemetry,claims,tiers,rational,capabilities,buyerGroups,statistics,offers,listings}.ts";
const AGENTS = "{clusters,agents,agentRow,transfers,wallets}.ts";

/** The files of settlement's engine that judge a proposal, and those that judge a record. */
const RULES =
  "{consensusTable,compareTexts,textComparators,divergence,driftQueue,ledgerClock,lookupText,proposal,recordKey,releasedEntry,unknownKeys}.ts";
const RECORDS =
  "{auditRules,stewardRules,institutionalRules,readSignedRecord,recordRules,requirePublicEndpoint,ruleBook}.ts";

/** The SDK's steps between a signature and a payment, whose tests need no chain. */
const PAYMENTS =
  "{buyer/{escrowPayment,hireByKey,judgeTerms,keptHires,reports,resumeHires},seller/receiptOutbox}.ts";

/** Its tests need a chain. */
const FACILITATOR = "packages/sdk/x402/localFacilitator.ts";

/**
 * Every part in which an unnoticed change may cost money or make a published number wrong. A room consists of the parts whose
 * names begin with its name. Each part has its own tests and its own kept outcomes. Some tests of `settlement/anchoring`
 * and `sdk/keeper` need a chain, so these parts take longest.
 */
export const rooms: Room[] = [
  derive(
    "hires",
    [HIRES],
    [
      "{tiers,hires,escrows,ratings,rational,buyerGroups,edges,sameBlock,binding,audits,auditModes,auditCanaries,families,listings,offers,params,searchRank}",
      "oracle/oracle",
    ],
  ),
  derive(
    "clusters",
    [AGENTS, "{funding,fingerprint}/*.ts"],
    [
      "{clusters,fingerprints,classLists,fundings,fundedAgents,legs,openRows,hires,escrows,sameBlock,edges,params,families,digest,auditEffects,auditCanaries}",
      "oracle/oracle",
      "relevant/*",
    ],
  ),
  derive("families", ["families/*.ts"], ["{families,sameBlock,publishedFields}", "families/*"]),
  derive("audits", ["audits/*.ts"], ["audit*", "audits/*", "oracle/audits"]),
  derive("steward", ["steward/**/*.ts"], ["steward/*", "oracle/{steward,sla}", "digest"]),
  derive("trust", ["settlementTrust/*.ts"], ["settlementTrust/*"]),
  derive("identities", ["identities/*.ts"], ["identities/*", "oracle/identities"]),
  derive("relevant", ["relevant/*.ts"], ["relevant/*", "{families,sameBlock}"]),
  derive("rows", ["*.ts", `!${HIRES}`, `!${AGENTS}`], ["*", "relevant/logReader", "steward/*", "audits/*"]),

  protocol("ledger", ["ledger/*.ts"], ["ledger/*", "signatures/typedDataHash", "escrow/typedData"]),
  protocol("merkle", ["merkle/*.ts"], ["merkle/*", "ledger/verifyLedger"]),
  protocol("note", ["note/*.ts"], ["note/*", "proof/proofBundle"]),
  protocol("proof", ["proof/*.ts"], ["proof/*", "verifiers/verifiers"]),
  protocol(
    "money",
    ["{escrow,hire,actions}/*.ts", "{amount,replacementFees,escrow}.ts"],
    ["{escrow,hire,actions}/*", "{amount,replacementFees}", "verifiers/verifiers"],
  ),
  protocol(
    "records",
    ["{records,audits,consensus,clarification,notices}/*.ts"],
    ["{records,audits,consensus,clarification,notices}/*", "signatures/remembered", "verifiers/verifiers"],
  ),
  protocol("json", ["json/*.ts"], ["json/*", "ledger/*", "encodings"]),
  protocol(
    "signatures",
    ["{signatures,erc1271}/*.ts", "*.ts", "!{amount,replacementFees,escrow}.ts"],
    [
      "{signatures,erc1271}/*",
      "{amount,encodings,errors,keysOfOthers,problem,releaseAddress}",
      "escrow/typedData",
      "hire/hireRequest",
      "verifiers/verifiers",
    ],
  ),
  protocol("reports", ["{erc8004,trustReport,net}/*.ts"], ["{erc8004,net}/*", "trustReport"]),

  {
    name: "settlement/rules",
    sources: [`services/settlement/engine/${RULES}`],
    tests: [
      "test/settlement/engine/{consensusTable,compareTexts,divergence,driftQueue,ledgerClock,proposal,recordKey,releasedEntry,unknownKeys}.test.ts",
      "test/settlement/routes/{settle,actions}.test.ts",
    ],
    longestTestMs: 60_000,
  },
  {
    name: "settlement/records",
    sources: [`services/settlement/engine/${RECORDS}`],
    tests: [
      "test/settlement/engine/{auditRules,institutionalRules,readSignedRecord,recordRules,requirePublicEndpoint,ruleBook,stewardRules}.test.ts",
      "test/settlement/routes/{recordForms,rules}.test.ts",
    ],
    longestTestMs: 60_000,
  },
  {
    name: "settlement/engine",
    sources: [
      "services/settlement/engine/*.ts",
      ...[RULES, RECORDS].map((others) => `!services/settlement/engine/${others}`),
    ],
    tests: [
      "test/settlement/engine/{diskList,heldFile,heldIndex,heldIndexFile,heldProposals,indexDatabase,indexRefusals,indexRetry,indexedEntries,ledgerIndex,lookUps,onceAndAllowed,settlementEngine,taskStatus}.test.ts",
      "test/settlement/routes/{reviews,reading}.test.ts",
      "test/settlement/refusedIndex.test.ts",
    ],
  },
  {
    name: "settlement/ledger",
    // In a thread no mutant is active, so the code of the thread has no part of its own.
    sources: ["services/settlement/{ledger,keys}/*.ts", "!services/settlement/ledger/partWorker.ts"],
    tests: [
      "test/settlement/{ledger,keys}/*.test.ts",
      "test/settlement/engine/{settlementEngine,onceAndAllowed}.test.ts",
      "test/settlement/routes/reading.test.ts",
    ],
  },
  {
    name: "settlement/anchoring",
    sources: ["services/settlement/{anchoring,proofs,claims}/*.ts"],
    tests: [
      "test/settlement/{anchoring,proofs,claims}/*.test.ts",
      "test/settlement/routes/{claims,proofs}.test.ts",
      "test/settlement/keyRotation.test.ts",
    ],
  },

  {
    name: "sdk/payments",
    sources: [`packages/sdk/${PAYMENTS}`],
    tests: ["test/sdk/{hireByKey,keptHires,escrowPayment,outboxes,resumedMoney}.test.ts"],
    longestTestMs: 20_000,
  },
  {
    name: "sdk/keeper",
    sources: ["packages/sdk/{chain,escrow}/**/*.ts", FACILITATOR],
    tests: [
      "test/sdk/{chainReads,escrowBatch,escrowRelay,gasAccounts,httpRelay,instructionBook,keeperAdvances,keeperApp,keeperOutcomes}.test.ts",
      "test/sdk/{escrowCalls,escrowSignature,transactionSender,tryCall}.test.ts",
      "test/sdk/{keeper,keeperHostile,keeperPhases,escrow,localFacilitator}.test.ts",
    ],
  },
  {
    name: "sdk/stores",
    sources: ["packages/sdk/{budget,store,x402}/**/*.ts", `!${FACILITATOR}`],
    tests: [
      "test/sdk/{budget,budgetBooks,fileStore,jobLeases,orderedWrites,paymentHeaders,requireStoreOf,turnsByKey}.test.ts",
    ],
    longestTestMs: 60_000,
  },
  {
    name: "sdk/buyer",
    sources: ["packages/sdk/buyer/**/*.ts", `!packages/sdk/${PAYMENTS}`],
    tests: [
      "test/sdk/{avoidedSellers,chainReads,findSellers,hireByKey,hireFailure,keptHires,requirements,resumedMoney,sellersInTurn,withAskedAt}.test.ts",
    ],
    longestTestMs: 20_000,
  },
  {
    name: "sdk/seller",
    sources: ["packages/sdk/seller/**/*.ts", `!packages/sdk/${PAYMENTS}`],
    tests: [
      "test/sdk/{callbacks,directMode,escrowModeDeposit,escrowModeSignature,freeCalls,hiredBefore,markDelivery,oldWork,unfinishedJobs}.test.ts",
    ],
    longestTestMs: 20_000,
  },

  {
    name: "verifiers/checks",
    sources: ["packages/capabilities/checks/*.ts"],
    tests: [
      "test/capabilities/checks/*.test.ts",
      "test/capabilities/{rulesOf*,samples,versions}.test.ts",
      "test/capabilities/{fakes,honest}/*.test.ts",
    ],
    longestTestMs: 60_000,
  },
  {
    name: "verifiers/capabilities",
    sources: ["packages/capabilities/**/*.ts", "!packages/capabilities/checks/*.ts"],
    tests: ["test/capabilities/*.test.ts", "test/capabilities/{fakes,honest}/*.test.ts"],
    longestTestMs: 60_000,
  },
];
