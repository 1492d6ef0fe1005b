import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createProgress } from "../cli/progress.ts";
import { watchShutdown } from "../cli/shutdown.ts";
import { childEnvironment } from "../processes/childEnvironment.ts";
import { nodeProgram } from "../processes/nodeProgram.ts";
import { openKeeper } from "../processes/openKeeper.ts";
import { ponderProgram, ponderSettings } from "../processes/ponderProgram.ts";
import { type Service, serviceError, startService } from "../processes/startService.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import { checkNode } from "./checkNode.ts";
import type { NodeEnvironment } from "./nodeEnvironment.ts";

/**
 * Runs settlement and indexer until a signal, or until one of them ends: then it stops the other too, so that whoever
 * supervises this process starts both again.
 *
 * @param parameters.logs the folder of the two logs
 * @returns the exit code
 * @throws InvalidInputError when the database or the chain is not what the settings say; TallystickError `service_failed`
 */
export async function runNode(node: NodeEnvironment, { logs }: { logs: string }): Promise<number> {
  const progress = createProgress();
  await progress.step("settings", async () => {
    await checkNode(node.environment);
    return { detail: "database, chain and contracts answer", value: undefined };
  });
  await mkdir(logs, { recursive: true });
  const shutdown = watchShutdown();
  const keeper = await openKeeper();
  try {
    const services = [settlementOf(node, logs), indexerOf(node, logs)];
    keeper.onExit(({ name, code, signal }) => {
      const service = services.find((it) => it.name === name);
      if (service) shutdown.fail(serviceError(service, `${name} ended with ${signal ?? `code ${code}`}`));
    });
    for (const service of services) {
      await progress.step(service.name, async () => {
        await startService(keeper, service, shutdown.signal);
        return { detail: `log: ${path.relative(process.cwd(), service.logFile)}`, value: undefined };
      });
    }
    const url = `http://${node.indexerHost}:${node.indexerPort}`;
    process.stdout.write(`${JSON.stringify({ listening: url, settlement: node.settlementUrl })}\n`);
    await stopped(shutdown.signal);
    const code = shutdown.exitCode();
    if (code === undefined) throw shutdown.signal.reason;
    return code;
  } catch (error) {
    const code = shutdown.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    await keeper.close();
    shutdown.release();
  }
}

/** Waits for the wish to stop, and keeps this process running meanwhile. */
async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const hold = setInterval(() => {}, 60_000);
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(hold);
}

function settlementOf({ environment, settlementUrl }: NodeEnvironment, logs: string): Service {
  return {
    name: "settlement",
    command: process.execPath,
    args: nodeProgram("settlement/main.ts"),
    cwd: repositoryRoot,
    env: childEnvironment(environment),
    logFile: path.join(logs, "settlement.log"),
    isReady: async (signal) => (await fetch(`${settlementUrl}/health`, { signal })).ok,
    stop: [{ signal: "SIGTERM", waitMs: 15_000 }],
  };
}

function indexerOf({ environment, indexerHost, indexerPort }: NodeEnvironment, logs: string): Service {
  const reached = ["0.0.0.0", "::"].includes(indexerHost) ? "127.0.0.1" : indexerHost;
  return {
    name: "indexer",
    command: process.execPath,
    args: ponderProgram("start", { hostname: indexerHost, port: indexerPort }),
    cwd: repositoryRoot,
    env: childEnvironment({ ...ponderSettings, DATABASE_SCHEMA: "tallystick", ...environment }),
    logFile: path.join(logs, "indexer.log"),
    isReady: async (signal) => (await fetch(`http://${reached}:${indexerPort}/health`, { signal })).ok,
    readyWithinMs: 180_000,
    stop: [{ signal: "SIGTERM", waitMs: 15_000 }],
  };
}
