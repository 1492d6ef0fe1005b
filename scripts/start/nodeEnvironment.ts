import { randomBytes } from "node:crypto";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { z } from "zod";
import { indexerVariables, readConfig as readIndexerConfig } from "../../indexer/config.ts";
import { readConfig as readSettlementConfig, settlementVariables } from "../../services/settlement/config.ts";
import type { Deployment } from "../deploy/deployment.ts";
import { HUBS_OF_BASE } from "./hubsOfBase.ts";
import { type Environment, pick } from "./processEnvironment.ts";
import { urlOf } from "./urlOf.ts";

/** The part to start: settlement and an indexer, another indexer, or a replica, which only answers. */
export type NodePart = "node" | "indexer" | "replica";

/** The settings that `npm start` itself reads. The other ones belong to settlement and the indexer. */
const environmentSchema = z.object({
  NETWORK: z.enum(["base", "base-sepolia"]).optional(),
  INDEXER_HOST: z.string().min(1).default("127.0.0.1"),
});

/** Settings that are the same for every node on a network. Settings in `.env` have priority. */
const PRESETS: { [network: string]: Environment } = {
  base: {
    CHAIN_ID: "8453",
    // Circle's USDC, and the EIP-712 domain that payers sign for.
    TOKEN_ADDRESS: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    TOKEN_NAME: "USD Coin",
    TOKEN_VERSION: "2",
    HUBS: HUBS_OF_BASE.map(({ address }) => address).join(","),
    // Only a few blocks per request, because a block of Base has many transfers of USDC and providers cut
    // long answers off.
    LOGS_BLOCK_RANGE: "100",
    POLLING_INTERVAL_MS: "2000",
    TICK_BLOCKS: "150",
  },
  "base-sepolia": {
    CHAIN_ID: "84532",
    TOKEN_ADDRESS: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    TOKEN_NAME: "USDC",
    TOKEN_VERSION: "2",
    LOGS_BLOCK_RANGE: "1000",
    POLLING_INTERVAL_MS: "2000",
    TICK_BLOCKS: "150",
  },
};

/** The block in which the token of a preset was deployed: Circle's USDC on Base in August 2023. */
const FIRST_BLOCKS: { [token: string]: number } = {
  "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": 2_797_221,
};

/** All settings of the processes, complete and with a checked form. */
export type NodeEnvironment = {
  environment: Environment;
  /** The settings that were added. */
  completed: Environment;
  settlementUrl: string;
  indexerHost: string;
  indexerPort: number;
};

/**
 * Completes the settings of a node. A missing setting comes from the network's preset, then from the recorded
 * deployment on its chain, then from the other settings (the ledger's id, the address of settlement).
 *
 * @param given the settings; empty ones count as absent
 * @param part the part to start with them. An indexer alone needs no key, but it still follows a ledger
 * @param deploymentOn reads `contracts/deployments/<chainId>.json`, if there is one
 * @throws InvalidInputError naming everything that is missing or wrong, all at once
 */
export async function nodeEnvironment(
  given: { [name: string]: string | undefined },
  deploymentOn: (chainId: number) => Promise<Deployment | undefined>,
  part: NodePart = "node",
): Promise<NodeEnvironment> {
  const own = environmentSchema.safeParse(given.NETWORK === "" ? { ...given, NETWORK: undefined } : given);
  const issues: InputIssue[] = [];
  if (!own.success) {
    const names = Object.keys(PRESETS).join(" or ");
    issues.push({ field: "NETWORK", message: `must be ${names}, or be left out for another chain` });
  }
  const { set, completed } = await completeSettings(given, deploymentOn);
  const complete = completing(set, completed);
  const settlementUrl = urlOf(set.SETTLEMENT_HOST ?? "127.0.0.1", set.SETTLEMENT_PORT ?? "42070");
  complete({ SETTLEMENT_URL: settlementUrl });
  // Settlement is reached through the indexer, so the indexer is the proxy in front of it.
  if (part === "node") complete({ TRUST_PROXY: "1" });

  const forSettlement = pick(set, (name) => settlementVariables.includes(name));
  // On a local chain nobody knows the node by its key.
  if (set.CHAIN_ID === "31337") complete({ REPORT_KEY: `0x${randomBytes(32).toString("hex")}` });
  // An indexer or a replica starts no settlement. Then settlement's settings only name the followed ledger.
  const settlement = attempt(() => readSettlementConfig(forSettlement), part === "node" ? issues : []);
  if (settlement?.anchoring !== undefined)
    complete({ LEDGERS: `${settlement.ledger}=${set.SETTLEMENT_URL}`, BOUND_LEDGERS: settlement.ledger });
  // The indexer has the same operator as settlement.
  if (settlement?.operator !== undefined) complete({ OPERATOR: settlement.operator });
  const forIndexer = pick(set, (name) => indexerVariables.includes(name));
  const indexer = attempt(() => readIndexerConfig(forIndexer), issues);
  issues.push(...(part === "node" ? whatANodeNeeds(set) : whatAnIndexerNeeds(set)));
  if (issues.length > 0 || indexer === undefined || own.data === undefined) throw incomplete(issues);
  return {
    environment: set,
    completed,
    settlementUrl,
    indexerHost: own.data.INDEXER_HOST,
    indexerPort: indexer.port,
  };
}

/**
 * The given settings, completed from the network's preset and the recorded deployment on its chain.
 *
 * @returns `set`: all of them; `completed`: those that were not given
 */
export async function completeSettings(
  given: { [name: string]: string | undefined },
  deploymentOn: (chainId: number) => Promise<Deployment | undefined>,
): Promise<{ set: Environment; completed: Environment }> {
  const set: Environment = {};
  for (const [name, value] of Object.entries(given)) if (value) set[name] = value;
  const completed: Environment = {};
  const complete = completing(set, completed);
  complete(PRESETS[set.NETWORK ?? ""] ?? {});
  const deployment = /^[0-9]+$/.test(set.CHAIN_ID ?? "")
    ? await deploymentOn(Number(set.CHAIN_ID))
    : undefined;
  if (deployment !== undefined) complete(ofDeployment(deployment));
  const firstBlock = FIRST_BLOCKS[set.TOKEN_ADDRESS?.toLowerCase() ?? ""];
  if (set.CHAIN_ID === "8453" && firstBlock !== undefined) {
    // No relevant event is older than the token.
    complete({ START_BLOCK: String(firstBlock) });
    complete({ TOKEN_FIRST_BLOCK: String(Math.min(firstBlock, Number(set.START_BLOCK) || 0)) });
  }
  return { set, completed };
}

/** Makes a function that sets defaults in `set` where nothing is set, and also notes them in `completed`. */
function completing(set: Environment, completed: Environment): (defaults: Environment) => void {
  return (defaults) => {
    for (const [name, value] of Object.entries(defaults)) {
      if (set[name] !== undefined) continue;
      set[name] = value;
      completed[name] = value;
    }
  };
}

function ofDeployment({ startBlock, token, hireEscrow, anchoredLedger, chainId }: Deployment): Environment {
  return {
    // On a local chain the guardian is a key that everybody has.
    ...(chainId !== 31_337 && { LEDGER_GUARDIAN: hireEscrow.guardian }),
    START_BLOCK: String(startBlock),
    TOKEN_ADDRESS: token,
    ESCROWS: `${hireEscrow.address}=${hireEscrow.providerId}`,
    ANCHORED_LEDGER: anchoredLedger,
  };
}

/** A node needs some settings that settlement or an indexer alone does not need. */
function whatANodeNeeds(set: Environment): InputIssue[] {
  const hasKey = set.ANCHOR_SIGNER !== undefined || set.ANCHOR_PRIVATE_KEY_FILE !== undefined;
  return missing(hasKey ? { ...set, ANCHOR_PRIVATE_KEY: "elsewhere" } : set, [
    ["ANCHOR_PRIVATE_KEY", "the ledger's writer; entries that are not anchored do not count"],
    ["ANCHORED_LEDGER", "the contract in which the ledger is anchored; `tallystick deploy` prints it"],
    ["RPC_URL", "the chain's JSON-RPC"],
    ["START_BLOCK", "a block before the contracts were there; from 0 on it would read the whole chain"],
  ]);
}

/**
 * Another indexer or a replica must read the same sources as the first one. Otherwise its rows would differ.
 */
function whatAnIndexerNeeds(set: Environment): InputIssue[] {
  return missing(set, [
    ["ANCHORED_LEDGER", "the contract in which the followed ledgers are anchored"],
    ["LEDGERS", "the ledgers that are followed; `npm start -- --print` shows those of the node"],
    ["START_BLOCK", "the same block as the node's"],
  ]);
}

function missing(set: Environment, wanted: [name: string, why: string][]): InputIssue[] {
  return wanted
    .filter(([name]) => set[name] === undefined)
    .map(([field, why]) => ({ field, message: `is missing: ${why}` }));
}

function attempt<Config>(read: () => Config, issues: InputIssue[]): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

/** One line for each setting. If both processes report it, the clearer line is taken. */
function incomplete(issues: InputIssue[]): InvalidInputError {
  const byField = new Map<string, InputIssue>();
  for (const issue of issues) {
    const known = byField.get(issue.field);
    if (known === undefined || issue.message.length > known.message.length) byField.set(issue.field, issue);
  }
  return new InvalidInputError({
    issues: [...byField.values()].sort((a, b) => (a.field < b.field ? -1 : 1)),
    code: "invalid_configuration",
    message: "The node cannot start with these settings:",
    hint: "Set them in .env. The file .env.example explains each setting, and docs/operators.md explains how to start a node.",
  });
}
