import type { Command } from "commander";

/** Adds one command with its options and action to the program. */
export type Register = (program: Command) => void;

/** A command before its module is loaded. */
export type CommandEntry = {
  name: string;
  /** One line for `tallystick --help`. */
  summary: string;
  /** Not shown in the help, because only npm scripts of this repository use it. */
  hidden?: boolean;
  /**
   * Only these settings are loaded from `.env` before the command runs. The commands that start parts of a node name
   * none here, because they read `.env`, or the file of `--env-file`, themselves.
   *
   * A function gets the words after the command's name, so the settings can depend on the sub-command.
   */
  settings?: readonly string[] | ((words: readonly string[]) => Promise<readonly string[]>);
  load: () => Promise<Register>;
};

/** The settings by which a command finds the node that it asks, and the database that it reads. */
const ASKING = ["TALLYSTICK_URL", "INDEXER_PORT"];
const READING = ["DATABASE_URL", "DATABASE_SCHEMA"];

/** Every command, in the order of the help. */
export const commands: CommandEntry[] = [
  {
    name: "demo",
    summary: "start a whole node with agents at work on it",
    load: async () => (await import("../commands/demo.ts")).registerDemo,
  },
  {
    name: "start",
    summary: "run a node on a real network",
    load: async () => (await import("../commands/start.ts")).registerStart,
  },
  {
    name: "indexer",
    summary: "run another indexer of a node",
    load: async () => (await import("../commands/indexer.ts")).registerIndexer,
  },
  {
    name: "replica",
    summary: "run one more process that answers a node's requests",
    load: async () => (await import("../commands/replica.ts")).registerReplica,
  },
  {
    name: "upgrade",
    summary: "move replicas to a new version of the derivation, without downtime",
    load: async () => (await import("../commands/upgrade.ts")).registerUpgrade,
  },
  {
    name: "agent",
    summary: "show an agent: reputation, listings, latest hires",
    settings: ASKING,
    load: async () => (await import("../commands/agent.ts")).registerAgent,
  },
  {
    name: "search",
    summary: "search live listings of a capability",
    settings: ASKING,
    load: async () => (await import("../commands/search.ts")).registerSearch,
  },
  {
    name: "hire",
    summary: "hire an agent, or show one counted hire",
    settings: async () => [...ASKING, ...(await import("tallystick-mcp/mcpConfig")).mcpVariables],
    load: async () => (await import("../commands/hire.ts")).registerHire,
  },
  {
    name: "escrow",
    summary: "show one escrow",
    settings: ASKING,
    load: async () => (await import("../commands/escrow.ts")).registerEscrow,
  },
  {
    name: "status",
    summary: "show the state of a node",
    settings: ASKING,
    load: async () => (await import("../commands/status.ts")).registerStatus,
  },
  {
    name: "deploy",
    summary: "deploy the contracts to a chain",
    settings: ["RPC_URL", "DEPLOYER_PRIVATE_KEY"],
    load: async () => (await import("../commands/deploy.ts")).registerDeploy,
  },
  {
    name: "verify-contracts",
    summary: "compare deployed contracts with their sources",
    settings: ["RPC_URL"],
    load: async () => (await import("../commands/verifyContracts.ts")).registerVerifyContracts,
  },
  {
    name: "derive",
    summary: "compute agents, clusters and the digest from an event log, or from a node's",
    load: async () => (await import("../commands/derive.ts")).registerDerive,
  },
  {
    name: "compare",
    summary: "find the first tick at which nodes differ, and the line of the log",
    load: async () => (await import("../commands/compare.ts")).registerCompare,
  },
  {
    name: "export",
    summary: "write the event log of a running node",
    settings: READING,
    load: async () => (await import("../commands/export.ts")).registerExport,
  },
  {
    name: "rederive",
    summary: "derive a running node's log again and compare every row",
    settings: READING,
    load: async () => (await import("../commands/rederive.ts")).registerRederive,
  },
  {
    name: "sql",
    summary: "run SQL in a node's database",
    settings: ["DATABASE_URL"],
    load: async () => (await import("../commands/sql.ts")).registerSql,
  },
  {
    name: "verify-ledger",
    summary: "verify every line of a ledger file",
    load: async () => (await import("../commands/verifyLedger.ts")).registerVerifyLedger,
  },
  {
    name: "ledger",
    summary: "maintain the ledger of a settlement service, mirror one, check one",
    settings: async ([part]) => {
      if (part === "fsck") return [];
      if (part === "mirror")
        return (await import("../../services/settlement/mirror/mirrorConfig.ts")).mirrorVariables;
      return ["NETWORK", ...(await import("../../services/settlement/config.ts")).settlementVariables];
    },
    load: async () => (await import("../commands/ledger.ts")).registerLedger,
  },
  {
    name: "verify-proof",
    summary: "verify that an entry is in a ledger, offline or against the chain",
    load: async () => (await import("../commands/verifyProof.ts")).registerVerifyProof,
  },
  {
    name: "erc8004",
    summary: "register an agent with ERC-8004, post feedback for hires, answer and check feedback",
    settings: async () => [
      ...ASKING,
      ...(await import("tallystick-mcp/mcpConfig")).mcpVariables,
      "ERC8004_REGISTRIES",
    ],
    load: async () => (await import("../commands/erc8004.ts")).registerErc8004,
  },
  {
    name: "verify-feedback",
    summary: "check a feedback file of ERC-8004, offline or against the chain",
    settings: ["ERC8004_REGISTRIES"],
    load: async () => (await import("../commands/verifyFeedback.ts")).registerVerifyFeedback,
  },
  {
    name: "keeper",
    summary: "relay releases, refunds and timeouts of an escrow",
    settings: async () => ["NETWORK", ...(await import("../keeper/config.ts")).keeperVariables],
    load: async () => (await import("../commands/keeper.ts")).registerKeeper,
  },
  {
    name: "dispatch",
    summary: "send tasks to the cheapest model that can do them, and settle the answers",
    settings: async () => {
      const { dispatchVariables, vendorKeys } = await import("../../services/dispatch/config.ts");
      return [...dispatchVariables, ...vendorKeys];
    },
    load: async () => (await import("../commands/dispatch.ts")).registerDispatch,
  },
  {
    name: "dispatch-report",
    summary: "compute from a ledger what was spent on models, and what was saved",
    load: async () => (await import("../commands/dispatchReport.ts")).registerDispatchReport,
  },
  {
    name: "prober",
    summary: "check whether the hosts of agents answer, and report it",
    settings: async () => (await import("../../services/probing/config.ts")).proberVariables,
    load: async () => (await import("../commands/prober.ts")).registerProber,
  },
  {
    name: "notifier",
    summary: "tell buyers what happens to the SLAs of agents that they named",
    settings: async () => (await import("../../services/notifying/config.ts")).notifierVariables,
    load: async () => (await import("../commands/notifier.ts")).registerNotifier,
  },
  {
    name: "attest",
    summary: "sign the results of an agent's tests, from JUnit XML",
    settings: [...ASKING, "TALLYSTICK_PRIVATE_KEY", "TALLYSTICK_LEDGER"],
    load: async () => (await import("../commands/attest.ts")).registerAttest,
  },
  {
    name: "trust-report",
    summary: "show an agent's trust score and what it is made of",
    settings: ASKING,
    load: async () => (await import("../commands/trustReport.ts")).registerTrustReport,
  },
  {
    name: "verify-factor",
    summary: "compute one factor of a trust score again from its evidence",
    settings: ASKING,
    load: async () => (await import("../commands/verifyFactor.ts")).registerVerifyFactor,
  },
  {
    name: "verify-signature",
    summary: "check the signature of a trust report, offline",
    load: async () => (await import("../commands/verifySignature.ts")).registerVerifySignature,
  },
  {
    name: "sla-status",
    summary: "show what an agent promises, and whether it keeps it",
    settings: ASKING,
    load: async () => (await import("../commands/slaStatus.ts")).registerSlaStatus,
  },
  {
    name: "failures",
    summary: "list the failed hires of an agent, and why they failed",
    settings: ASKING,
    load: async () => (await import("../commands/failures.ts")).registerFailures,
  },
  {
    name: "steward-simulate",
    summary:
      "compute the trust scores of an event log with other weights, and list the agents whose scores change",
    load: async () => (await import("../commands/stewardSimulate.ts")).registerStewardSimulate,
  },
  {
    name: "witness",
    summary: "cosign the checkpoints of ledgers that only grow",
    settings: async () => (await import("../../services/witness/config.ts")).witnessVariables,
    load: async () => (await import("../commands/witness.ts")).registerWitness,
  },
  {
    name: "example",
    summary: "run an example of the SDK against a node",
    load: async () => (await import("../commands/example.ts")).registerExample,
  },
  {
    name: "audits",
    summary: "show what is audited, or compute a draw and its auditors again",
    settings: [...ASKING, "RPC_URL"],
    load: async () => (await import("../commands/audits.ts")).registerAudits,
  },
  {
    name: "auditor",
    summary: "judge the work that is assigned to your auditor",
    load: async () => (await import("../commands/auditor.ts")).registerAuditor,
  },
  {
    name: "audit-operator",
    summary: "run audits as their operator: hire and pay auditors, refund, arrange canaries",
    settings: async () => [
      "NETWORK",
      ...(await import("../../services/auditing/config.ts")).auditingVariables,
    ],
    load: async () => (await import("../commands/auditOperator.ts")).registerAuditOperator,
  },
  {
    name: "audit-pool",
    summary: "simulate audits: how soon bad work is found, how often good work fails, and the cost",
    load: async () => (await import("../commands/auditPool.ts")).registerAuditPool,
  },
  {
    name: "keys",
    summary: "issue and revoke the API keys of settlement",
    settings: ["KEYS_FILE", "LEDGER_DIR"],
    load: async () => (await import("../commands/keys.ts")).registerKeys,
  },
  {
    name: "prove",
    summary: "prove the bookkeeping of the contracts",
    hidden: true,
    load: async () => (await import("../../tools/commands/prove.ts")).registerProve,
  },
  {
    name: "mutate",
    summary: "change the contracts, or the TypeScript, in every small way and see whether a test notices",
    hidden: true,
    load: async () => (await import("../../tools/commands/mutate.ts")).registerMutate,
  },
  {
    name: "coverage",
    summary: "print which lines of the contracts their tests run",
    hidden: true,
    load: async () => (await import("../../tools/commands/coverage.ts")).registerCoverage,
  },
  {
    name: "bench-dispatch",
    summary: "measure the choice of models, and shadows, with public verdicts",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchDispatch.ts")).registerBenchDispatch,
  },
  {
    name: "bench-gas",
    summary: "measure the gas of every verb of the contracts",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchGas.ts")).registerBenchGas,
  },
  {
    name: "capabilities",
    summary: "list what can be hired, or measure how it is verified",
    load: async () => (await import("../commands/capabilities.ts")).registerCapabilities,
  },
  {
    name: "mcp",
    summary: "serve the tools of an agent over MCP",
    settings: async () => (await import("tallystick-mcp/mcpConfig")).mcpVariables,
    load: async () => (await import("../commands/mcp.ts")).registerMcp,
  },
  {
    name: "record-mcp",
    summary: "record a session of an MCP client on a demo node, for docs/mcp.md",
    hidden: true,
    load: async () => (await import("../../tools/commands/recordMcp.ts")).registerRecordMcp,
  },
  {
    name: "bench-audits",
    summary: "measure what audits add to the cost of a derivation",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchAudits.ts")).registerBenchAudits,
  },
  {
    name: "bench-derive",
    summary: "measure how fast a log is derived offline",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchDerive.ts")).registerBenchDerive,
  },
  {
    name: "bench-families",
    summary: "measure what families of money cost the derivation and a backfill",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchFamilies.ts")).registerBenchFamilies,
  },
  {
    name: "bench-ledger",
    summary: "measure the settlement service and its ledger",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchLedger.ts")).registerBenchLedger,
  },
  {
    name: "soak-ledger",
    summary: "kill the settlement service many times under load and look for losses",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakLedger.ts")).registerSoakLedger,
  },
  {
    name: "soak-crash",
    summary: "end the settlement service at every write, and check that everything it reported still holds",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakCrash.ts")).registerSoakCrash,
  },
  {
    name: "soak-standby",
    summary: "stop the machine that writes a ledger in every way, and check that the stand-by takes over",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakStandby.ts")).registerSoakStandby,
  },
  {
    name: "soak-index",
    summary: "play generated logs onto a chain, and compare nodes, derivation and oracle",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakIndex.ts")).registerSoakIndex,
  },
  {
    name: "soak-attacks",
    summary: "play every attack of docs/independence.md onto a chain that a node follows",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakAttacks.ts")).registerSoakAttacks,
  },
  {
    name: "soak-relevant",
    summary: "derive generated logs in both forms, and compare the results",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakRelevant.ts")).registerSoakRelevant,
  },
  {
    name: "bench-hire",
    summary: "measure what hire() adds to the seller's own time",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchHire.ts")).registerBenchHire,
  },
  {
    name: "soak-hire",
    summary: "hire at random with injected faults, and check that no money appears or disappears",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakHire.ts")).registerSoakHire,
  },
  {
    name: "soak-keeper",
    summary: "run a keeper among hostile wallets, and count the gas of each side",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakKeeper.ts")).registerSoakKeeper,
  },
  {
    name: "soak-prober",
    summary: "let a prober look at thousands of local hosts, and simulate a week",
    hidden: true,
    load: async () => (await import("../../tools/commands/soakProber.ts")).registerSoakProber,
  },
  {
    name: "pack",
    summary: "make a tarball of each package that others install",
    hidden: true,
    load: async () => (await import("../../tools/commands/pack.ts")).registerPack,
  },
  {
    name: "bench-bundles",
    summary: "measure how much a page fetches when it imports one of our modules",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchBundles.ts")).registerBenchBundles,
  },
  {
    name: "test-registries",
    summary: "test against the published code of ERC-8004's registries",
    hidden: true,
    load: async () => (await import("../../tools/commands/testRegistries.ts")).registerTestRegistries,
  },
  {
    name: "bench-identities",
    summary: "measure what a hundred thousand identities of ERC-8004 cost",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchIdentities.ts")).registerBenchIdentities,
  },
  {
    name: "bench-steward",
    summary: "measure what trust scores cost a tick",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchSteward.ts")).registerBenchSteward,
  },
  {
    name: "bench-index",
    summary: "measure the indexer on a generated chain",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchIndex.ts")).registerBenchIndex,
  },
  {
    name: "bench-api",
    summary: "measure the API over a large market",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchApi.ts")).registerBenchApi,
  },
  {
    name: "dev",
    summary: "serve the API over a demo's rows, and start it again whenever its code changes",
    hidden: true,
    load: async () => (await import("../../tools/commands/dev.ts")).registerDev,
  },
  {
    name: "dev-portal",
    summary: "serve the portal in front of a running node, and show it again when it changes",
    hidden: true,
    load: async () => (await import("../../tools/commands/devPortal.ts")).registerDevPortal,
  },
  {
    name: "bench-portal",
    summary: "measure how the portal verifies a large ledger file, against the command line",
    hidden: true,
    load: async () => (await import("../../tools/commands/benchPortal.ts")).registerBenchPortal,
  },
  {
    name: "check-portal",
    summary: "measure the portal's pages by Lighthouse, in front of a running node",
    hidden: true,
    load: async () => (await import("../../tools/commands/checkPortal.ts")).registerCheckPortal,
  },
  {
    name: "portal-pictures",
    summary: "take a picture of every page of the portal, at three widths in both colours",
    hidden: true,
    load: async () => (await import("../../tools/commands/portalPictures.ts")).registerPortalPictures,
  },
  {
    name: "dev-derive",
    summary: "derive a log again whenever it or the derivation changes, and print what changed",
    hidden: true,
    load: async () => (await import("../../tools/commands/devDerive.ts")).registerDevDerive,
  },
  {
    name: "test",
    summary: "lint, types, Solidity and TypeScript tests of this repository",
    hidden: true,
    load: async () => (await import("../../tools/commands/test.ts")).registerTest,
  },
];
