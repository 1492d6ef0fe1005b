import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Deployment } from "../deploy/deployment.ts";
import { childEnvironment } from "../processes/childEnvironment.ts";
import { nodeProgram } from "../processes/nodeProgram.ts";
import { ponderInCheckout } from "../processes/ponderInCheckout.ts";
import { ponderSettings } from "../processes/ponderProgram.ts";
import type { Service } from "../processes/startService.ts";
import { repositoryRoot } from "../repositoryRoot.ts";

/**
 * The key that signs the trust reports of a demo. Each demo has a new one, because nobody needs to know it in
 * advance.
 */
const REPORT_KEY = `0x${randomBytes(32).toString("hex")}`;

/** Blocks between two ticks of the demo: few, so that nobody waits long for a tick. */
export const TICK_BLOCKS = 10;

/** Where the indexer of the demo writes. */
export const DATABASE_SCHEMA = "tallystick";

/** Whether an RPC answers. Throws if nothing listens there. */
async function rpcAnswers(rpcUrl: string, signal: AbortSignal): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
  const headers = { "content-type": "application/json" };
  return (await fetch(rpcUrl, { method: "POST", headers, body, signal })).ok;
}

/** A local chain of Hardhat's, on 127.0.0.1 only. Its clock starts at `startsAt`; default now. */
export function chainService({
  port,
  logs,
  startsAt,
}: {
  port: number;
  logs: string;
  startsAt?: Date;
}): Service {
  return {
    name: "chain",
    command: process.execPath,
    args: nodeProgram("scripts/demo/runChain.ts", [
      ...["--port", String(port)],
      ...(startsAt ? ["--starts-at", startsAt.toISOString()] : []),
    ]),
    cwd: repositoryRoot,
    env: childEnvironment(),
    logFile: path.join(logs, "chain.log"),
    isReady: (signal) => rpcAnswers(`http://127.0.0.1:${port}`, signal),
  };
}

/** The settings of the demo's settlement. */
export type SettlementServiceParameters = {
  port: number;
  logs: string;
  ledgerDir: string;
  origin: string;
  rpcUrl: string;
  deployment: Deployment;
  anchorKey: Hex;
  /** The account whose parameters and decisions settlement accepts. */
  operator: Address;
  /** The key for clients that settle proposals. */
  apiKey: string;
};

/** The write side: settlement, which anchors four times a second. */
export function settlementService(parameters: SettlementServiceParameters): Service {
  const { port, logs, ledgerDir, origin, rpcUrl, deployment, anchorKey, operator, apiKey } = parameters;
  return {
    name: "settlement",
    command: process.execPath,
    args: nodeProgram("services/settlement/main.ts"),
    cwd: repositoryRoot,
    env: childEnvironment({
      SETTLEMENT_HOST: "127.0.0.1",
      SETTLEMENT_PORT: String(port),
      LEDGER_DIR: ledgerDir,
      LEDGER_ORIGIN: origin,
      RPC_URL: rpcUrl,
      CHAIN_ID: String(deployment.chainId),
      ANCHORED_LEDGER: deployment.anchoredLedger,
      ANCHOR_PRIVATE_KEY: anchorKey,
      SETTLEMENT_API_KEYS: apiKey,
      ANCHOR_INTERVAL_SECONDS: "0.25",
      OPERATOR: operator,
      // All agents of the demo come from one IP address, so a limit per address would stop them.
      RATE_LIMIT_PER_ADDRESS: "0",
      RATE_LIMIT_READS: "0",
      // Sellers may run on this machine, as those of packages/sdk/examples do.
      DEV_MODE: "1",
    }),
    logFile: path.join(logs, "settlement.log"),
    isReady: async (signal) => (await fetch(`http://127.0.0.1:${port}/health`, { signal })).ok,
  };
}

/** The settings of an indexer of the demo. */
export type IndexerServiceParameters = {
  name?: string;
  port: number;
  logs: string;
  databaseUrl: string;
  databaseSchema?: string;
  rpcUrl: string;
  settlementUrl: string;
  ledger: Hex;
  operator: Address;
  deployment: Deployment;
};

/** The read side: Ponder, which reads the chain and the ledger. */
export function indexerService(parameters: IndexerServiceParameters): Service {
  const { name = "indexer", port, logs, databaseUrl, databaseSchema = DATABASE_SCHEMA } = parameters;
  const { rpcUrl, settlementUrl, ledger, operator, deployment } = parameters;
  const { hireEscrow } = deployment;
  return {
    name,
    command: process.execPath,
    args: ponderInCheckout("start", { hostname: "127.0.0.1", port }),
    cwd: repositoryRoot,
    env: childEnvironment({
      ...ponderSettings,
      DATABASE_URL: databaseUrl,
      DATABASE_SCHEMA: databaseSchema,
      INDEXER_PORT: String(port),
      RPC_URL: rpcUrl,
      CHAIN_ID: String(deployment.chainId),
      POLLING_INTERVAL_MS: "200",
      START_BLOCK: String(deployment.startBlock),
      TOKEN_ADDRESS: deployment.token,
      ESCROWS: `${hireEscrow.address}=${hireEscrow.providerId}`,
      ANCHORED_LEDGER: deployment.anchoredLedger,
      LEDGERS: `${ledger}=${settlementUrl}`,
      BOUND_LEDGERS: ledger,
      OPERATOR: operator,
      TICK_BLOCKS: String(TICK_BLOCKS),
      SETTLEMENT_URL: settlementUrl,
      REPORT_KEY,
    }),
    logFile: path.join(logs, `${name}.log`),
    isReady: async (signal) => (await fetch(`http://127.0.0.1:${port}/health`, { signal })).ok,
    // The start takes six seconds on an idle machine, and much longer on a busy one.
    readyWithinMs: 180_000,
    stop: [{ signal: "SIGTERM", waitMs: 8_000 }],
  };
}
