// The settlement process: `node services/settlement/main.ts`. Environment variables configure it (config.ts).
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { protectListener } from "tallystick-runtime/http/protectListener";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { endWithError } from "tallystick-runtime/processes/endWithError";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readConfig, type SettlementConfig } from "./config.ts";
import { readLimits } from "./http/readLimits.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import { openService } from "./service.ts";

/** How long running requests may take when the process is told to stop, in milliseconds. */
const STOP_GRACE_MS = 5_000;

/** How long answers may take to leave when the ledger has failed, in milliseconds. */
const FAIL_GRACE_MS = 250;

function cannotListen({ host, port }: SettlementConfig, cause: Error): TallystickError {
  return new TallystickError({
    code: "cannot_listen",
    message: `Nothing can listen at ${host}, port ${port}: ${cause.message}.`,
    hint: "Stop what listens there, or set SETTLEMENT_HOST and SETTLEMENT_PORT.",
    cause,
  });
}

/** Ends the process because the ledger cannot be trusted. Before that, waiting clients get their 503. */
function fail(error: Error): void {
  log("The ledger can no longer be written; the service ends.", { error });
  setTimeout(() => endWithError(error), FAIL_GRACE_MS);
}

/** The app that is served: the service, or the answers of a machine that stands by. */
type Served = { app: Hono; ledger: DiskLedger; standby?: true };

/** Says where it listens and what it serves, as one line of JSON. */
function say(config: SettlementConfig, { ledger, standby }: Served, port: number): void {
  const listening = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
  const about = { ledger: config.ledger, file: ledger.path, size: ledger.size, head: ledger.head };
  const line = { listening, ...about, root: toHex(ledger.tree.root()), ...(standby && { standby }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Listens, and answers with the app that was set last.
 *
 * @param close closes everything before the process ends
 */
function listen(config: SettlementConfig, first: Served, close: () => Promise<void>) {
  let served = first;
  const fetch: Hono["fetch"] = (...request) => served.app.fetch(...request);
  const server = serve({ fetch, hostname: config.host, port: config.port }, ({ port }) =>
    say(config, served, port),
  ) as Server;
  const onFault = (error: unknown) => log("A request caused an internal error.", { error });
  const { trustedProxies } = config.rateLimits;
  protectListener(server, { trustedProxies, onFault, limits: readLimits(config.rateLimits) });
  surviveRequests(onFault, endWithError);
  // For example, the port is taken. Then everything is closed as at a normal stop.
  server.on("error", (error) => {
    void close()
      .catch((closing) => log("The service did not close.", { error: closing }))
      .finally(() => endWithError(cannotListen(config, error)));
  });

  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log("Stopping.", { signal });
    const timer = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
    clearTimeout(timer);
    await close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void stop(signal).catch(endWithError));
  }
  return (next: Served): void => {
    served = next;
    const address = server.address();
    if (address !== null && typeof address === "object") say(config, next, address.port);
  };
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const stop = new AbortController();
  let show = undefined as ((next: Served) => void) | undefined;
  const opening = openService({
    config,
    now: () => Date.now() / 1000,
    log,
    onFailure: fail,
    signal: stop.signal,
    onStandby: (app, ledger) => {
      show = listen(config, { app, ledger, standby: true }, close);
    },
  });
  async function close(): Promise<void> {
    stop.abort();
    const service = await opening.catch(() => undefined);
    await service?.close();
  }
  const service = await opening.catch((error) => {
    // The process is told to stop while it stands by. Then `close` ends it.
    if (!stop.signal.aborted) throw error;
  });
  if (service === undefined) return;
  if (await service.isClosed())
    log("POST /v1/settle is closed: nobody has a key (tallystick keys add NAME).");
  if (show) show(service);
  else listen(config, service, close);
}

main().catch(endWithError);
