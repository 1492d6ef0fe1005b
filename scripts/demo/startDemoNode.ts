import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Hex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { zeroAddress } from "viem";
import type { Progress } from "../cli/progress.ts";
import { deployContracts } from "../deploy/deployContracts.ts";
import { type Deployment, writeDeployment } from "../deploy/deployment.ts";
import { startPostgres } from "../postgres/startPostgres.ts";
import { freePort } from "../processes/freePort.ts";
import type { Supervisor } from "../processes/openSupervisor.ts";
import { OWN_CONNECTION } from "../processes/ownConnection.ts";
import { startService } from "../processes/startService.ts";
import { actors } from "./actors.ts";
import { chainService, DATABASE_SCHEMA, indexerService, settlementService } from "./services.ts";

/** The escrow provider's id in the demo. */
export const PROVIDER = "tallystick-demo";

/** The ledger's name, as its writer gives it. */
export const ORIGIN = "tallystick.local/demo";

/** A whole node on this machine. */
export type DemoNode = {
  rpcUrl: string;
  databaseUrl: string;
  databaseSchema: string;
  settlementUrl: string;
  /** A key for settling proposals, made for this run. */
  settlementKey: string;
  /** The one base URL that users need: the indexer, which forwards the settlement routes. */
  url: string;
  deployment: Deployment;
  /** The ledger's id on the chain. */
  ledger: Hex;
  /** The ledger's file. */
  ledgerFile: string;
  logs: string;
};

/** Where and with what {@link startDemoNode} starts the node. */
export type StartDemoNodeParameters = {
  supervisor: Supervisor;
  /** Gets logs, ledger and deployment. */
  folder: string;
  /** The port of the base URL; default any free one. */
  port?: number;
  progress: Progress;
  signal: AbortSignal;
};

/**
 * Starts Postgres, a chain, the contracts, settlement and the indexer. Parts that do not need each other start
 * in parallel.
 *
 * @throws TallystickError `service_failed`, with the end of the log of what failed
 */
export async function startDemoNode(parameters: StartDemoNodeParameters): Promise<DemoNode> {
  const { supervisor, folder, progress, signal } = parameters;
  const logs = path.join(folder, "logs");
  await mkdir(logs, { recursive: true });

  const postgres = progress.step("Postgres", async () => {
    const server = await startPostgres({ supervisor, logFile: path.join(logs, "postgres.log"), signal });
    return { detail: `a real one, on port ${server.port}`, value: await server.createDatabase("tallystick") };
  });
  const chain = progress.step("chain", async () => {
    const port = await freePort();
    await startService(supervisor, chainService({ port, logs, startsAt: chainStart(Date.now()) }), signal);
    return { detail: `Hardhat's, on port ${port}`, value: `http://127.0.0.1:${port}` };
  });
  const contracts = chain.then((rpcUrl) =>
    progress.step("contracts", async () => {
      const deployment = await deployContracts({
        rpcUrl,
        chainId: 31_337,
        guardian: actors.guardian.address,
        providerId: PROVIDER,
        journal: path.join(folder, "ignition"),
      });
      await writeDeployment(path.join(folder, "deployment.json"), deployment);
      return { detail: "test USDC, HireEscrow, AnchoredLedger by Ignition", value: deployment };
    }),
  );
  const [databaseUrl, rpcUrl, deployment] = await Promise.all([postgres, chain, contracts]);
  signal.throwIfAborted();
  const { relayer, operator: writer, puppeteer, pool, courier } = actors;
  await giveEther(
    rpcUrl,
    [relayer, writer, puppeteer, pool, courier].map(({ address }) => address),
  );

  const { chainId, anchoredLedger } = deployment;
  const ledger = ledgerId({
    chainId,
    contract: anchoredLedger,
    writer: actors.operator.address,
    guardian: zeroAddress,
    origin: ORIGIN,
  });
  const ledgerDir = path.join(folder, "ledger");
  const settlementPort = await freePort();
  const port = parameters.port ?? (await freePort());
  const settlementKey = randomBytes(24).toString("base64url");
  const settlementUrl = `http://127.0.0.1:${settlementPort}`;
  const common = { logs, rpcUrl, deployment };
  await Promise.all([
    progress.step("settlement", async () => {
      const anchorKey = actors.operator.privateKey;
      const service = settlementService({
        ...common,
        port: settlementPort,
        ledgerDir,
        origin: ORIGIN,
        anchorKey,
        operator: actors.operator.address,
        apiKey: settlementKey,
      });
      await startService(supervisor, service, signal);
      return { detail: `on port ${settlementPort}`, value: undefined };
    }),
    progress.step("indexer", async () => {
      const operator = actors.operator.address;
      const service = indexerService({ ...common, port, databaseUrl, settlementUrl, ledger, operator });
      await startService(supervisor, service, signal);
      return { detail: `Ponder and GraphQL, on port ${port}`, value: undefined };
    }),
  ]);
  return {
    rpcUrl,
    databaseUrl,
    databaseSchema: DATABASE_SCHEMA,
    settlementUrl,
    settlementKey,
    url: `http://127.0.0.1:${port}`,
    deployment,
    ledger,
    ledgerFile: path.join(ledgerDir, ledger, "ledger.jsonl"),
    logs,
  };
}

/** How many days before the present the SLA's chapter begins. */
const DAYS_BEFORE = 4;

/**
 * The time at which the demo's chain begins: noon of that day. The next UTC day is then whole, and enough days
 * follow.
 */
function chainStart(now: number): Date {
  const day = 86_400_000;
  return new Date((Math.floor(now / day) - DAYS_BEFORE + 0.5) * day);
}

/** Gives accounts of a local chain the ether that transactions cost. */
async function giveEther(rpcUrl: string, addresses: string[]): Promise<void> {
  const headers = { "content-type": "application/json", ...OWN_CONNECTION };
  for (const address of addresses) {
    const params = [address, "0x56bc75e2d63100000"];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hardhat_setBalance", params });
    const response = await fetch(rpcUrl, { method: "POST", headers, body });
    const { error } = (await response.json()) as { error?: { message: string } };
    if (error) throw new Error(`hardhat_setBalance: ${error.message}`);
  }
}
