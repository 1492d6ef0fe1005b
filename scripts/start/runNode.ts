import { mkdir } from "node:fs/promises";
import path from "node:path";
import { plainJson } from "tallystick-runtime/plainText";
import { createProgress } from "../cli/progress.ts";
import { untilAborted, watchShutdown } from "../cli/shutdown.ts";
import { openSupervisor } from "../processes/openSupervisor.ts";
import { rotateLog } from "../processes/rotateLog.ts";
import { type Service, serviceError, startService } from "../processes/startService.ts";
import { checkNode } from "./checkNode.ts";
import type { NodeEnvironment, NodePart } from "./nodeEnvironment.ts";
import { indexerOf, settlementOf } from "./nodeServices.ts";
import { type ListenAddress, requireFreePorts } from "./requireFreePorts.ts";
import { urlOf } from "./urlOf.ts";

/** The most bytes of a log before it is emptied, and how often its size is checked. Four earlier parts are kept. */
const LOG_LIMIT = { bytes: 32 << 20, everyMs: 60_000 };

/**
 * Runs a part of a node, or all of it, until a signal. If one of its processes ends, it stops the others too,
 * so that an outer supervisor such as systemd starts everything again.
 *
 * @param parameters.logs the folder of the logs
 * @param parameters.part the whole node, another indexer, or a replica
 * @returns the exit code
 * @throws InvalidInputError when the database or the chain does not match the settings, or a port is taken;
 * TallystickError `service_failed`
 */
export async function runNode(
  node: NodeEnvironment,
  { logs, part }: { logs: string; part: NodePart },
): Promise<number> {
  const progress = createProgress();
  await progress.step("settings", async () => {
    await checkNode(node.environment);
    await requireFreePorts(listeningOf(node, part));
    return { detail: "database, chain and contracts answer", value: undefined };
  });
  await mkdir(logs, { recursive: true });
  const shutdown = watchShutdown();
  const supervisor = await openSupervisor();
  try {
    // This comes before the services look for the ends of their logs.
    for (const name of logNames(node, part)) await rotateLog(path.join(logs, `${name}.log`), LOG_LIMIT.bytes);
    const services = servicesOf(node, part, logs).map((it) => ({ ...it, logLimit: LOG_LIMIT }));
    supervisor.onExit(({ name, code, signal }) => {
      const service = services.find((it) => it.name === name);
      if (service) shutdown.fail(serviceError(service, `${name} ended with ${signal ?? `code ${code}`}`));
    });
    for (const service of services) {
      await progress.step(service.name, async () => {
        await startService(supervisor, service, shutdown.signal);
        return { detail: `log: ${path.relative(process.cwd(), service.logFile)}`, value: undefined };
      });
    }
    const listening = urlOf(node.indexerHost, node.indexerPort);
    const started = part === "node" ? { listening, settlement: node.settlementUrl } : { listening };
    process.stdout.write(`${plainJson(started)}\n`);
    await untilAborted(shutdown.signal);
    const code = shutdown.exitCode();
    if (code === undefined) throw shutdown.signal.reason;
    return code;
  } catch (error) {
    const code = shutdown.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    await supervisor.close();
    shutdown.release();
  }
}

function logNames(node: NodeEnvironment, part: NodePart): string[] {
  return part === "node" ? ["settlement", "indexer"] : [`${part}-${node.indexerPort}`];
}

function servicesOf(node: NodeEnvironment, part: NodePart, logs: string): Service[] {
  if (part === "node") return [settlementOf(node, logs), indexerOf(node, logs)];
  const [name = part] = logNames(node, part);
  return [indexerOf(node, logs, { name, command: part === "replica" ? "serve" : "start" })];
}

function listeningOf(
  { environment, indexerHost, indexerPort }: NodeEnvironment,
  part: NodePart,
): ListenAddress[] {
  const places = [{ field: "INDEXER_PORT", host: indexerHost, port: indexerPort }];
  if (part !== "node") return places;
  const { SETTLEMENT_HOST: host = "127.0.0.1", SETTLEMENT_PORT: port = "42070" } = environment;
  return [{ field: "SETTLEMENT_PORT", host, port: Number(port) }, ...places];
}
