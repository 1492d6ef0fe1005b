// The settlement process: `node --import tsx services/settlement/main.ts`. Environment variables configure it (config.ts).
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { limitTime } from "tallystick-runtime/http/limitTime";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readConfig, type SettlementConfig } from "./config.ts";
import { openService } from "./service.ts";

/** How long running requests may take when the process is told to stop, in milliseconds. */
const STOP_GRACE_MS = 5_000;

/** How long answers may take to leave when the ledger has failed, in milliseconds. */
const FAIL_GRACE_MS = 250;

function end(error: unknown): never {
  if (error instanceof TallystickError) {
    process.stderr.write(`error: ${error.message}\n${error.hint ? `hint: ${error.hint}\n` : ""}`);
  } else {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exit(1);
}

function cannotListen({ host, port }: SettlementConfig, cause: Error): TallystickError {
  return new TallystickError({
    code: "cannot_listen",
    message: `Nothing can listen at ${host}, port ${port}: ${cause.message}.`,
    hint: "Stop what listens there, or set SETTLEMENT_HOST and SETTLEMENT_PORT.",
    cause,
  });
}

/** Ends the process because the ledger cannot be trusted, after those who wait have their 503. */
function fail(error: Error): void {
  log("The ledger can no longer be written; the service ends.", { error });
  setTimeout(() => end(error), FAIL_GRACE_MS);
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const service = await openService({ config, now: () => Date.now() / 1000, log, onFailure: fail });
  if (await service.isClosed())
    log("POST /v1/settle is closed: nobody has a key (tallystick keys add NAME).");

  const server = serve({ fetch: service.app.fetch, hostname: config.host, port: config.port }, ({ port }) => {
    const { ledger } = service;
    const listening = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
    const about = { ledger: config.ledger, file: ledger.path, size: ledger.size, head: ledger.head };
    process.stdout.write(`${JSON.stringify({ listening, ...about, root: toHex(ledger.tree.root()) })}\n`);
  }) as Server;
  const onFault = (error: unknown) => log("A request left a fault behind.", { error });
  guardServer(server, onFault);
  limitTime(server);
  limitSockets(server, { trustedProxies: config.rateLimits.trustedProxies });
  surviveRequests(onFault, end);
  // For example, the port is taken. Ledger and chain are left as they are when the service is told to stop.
  server.on("error", (error) => {
    void service
      .close()
      .catch((closing) => log("The service did not close.", { error: closing }))
      .finally(() => end(cannotListen(config, error)));
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
    await service.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void stop(signal).catch(end));
  }
}

main().catch(end);
