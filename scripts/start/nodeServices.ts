import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { nodeProgram } from "../processes/nodeProgram.ts";
import { ponderInCheckout } from "../processes/ponderInCheckout.ts";
import type { Service } from "../processes/startService.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { NodeEnvironment } from "./nodeEnvironment.ts";
import { indexerEnvironment, settlementEnvironment } from "./processEnvironment.ts";
import { urlOf } from "./urlOf.ts";

/**
 * The write side. It is ready when its own log says that it listens, because another process might answer at
 * its port. A 503 counts as ready too: a ledger that is behind its chain refuses writes, but the node can
 * still serve what it has.
 */
export function settlementOf({ environment, settlementUrl }: NodeEnvironment, logs: string): Service {
  const logFile = path.join(logs, "settlement.log");
  const before = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  return {
    name: "settlement",
    command: process.execPath,
    args: nodeProgram("services/settlement/main.ts"),
    cwd: repositoryRoot,
    env: settlementEnvironment(environment),
    logFile,
    isReady: async (signal) =>
      (await textFrom(logFile, before)).includes('{"listening":') &&
      [200, 503].includes((await fetch(`${settlementUrl}/health`, { signal })).status),
    stop: [{ signal: "SIGTERM", waitMs: 15_000 }],
  };
}

/** The read side: the indexer, or a replica, which only answers. */
export function indexerOf(
  { environment, indexerHost, indexerPort }: NodeEnvironment,
  logs: string,
  { name = "indexer", command = "start" as "start" | "serve" } = {},
): Service {
  return {
    name,
    command: process.execPath,
    args: ponderInCheckout(command, { hostname: indexerHost, port: indexerPort }),
    cwd: repositoryRoot,
    env: indexerEnvironment(environment),
    logFile: path.join(logs, `${name}.log`),
    isReady: async (signal) => (await fetch(`${urlOf(indexerHost, indexerPort)}/health`, { signal })).ok,
    readyWithinMs: 180_000,
    stop: [{ signal: "SIGTERM", waitMs: 15_000 }],
  };
}

/** Reads the first 64 KiB of a log from `position` on. */
async function textFrom(file: string, position: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64 << 10), 0, 64 << 10, position);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
