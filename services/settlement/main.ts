// The settlement process: `node services/settlement/main.ts`. Environment variables configure it (config.ts).
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { toHex } from "tallystick-protocol/hex";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
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

/** Ends the process because the ledger cannot be trusted. Before that, waiting clients get their 503. */
function fail(error: Error): void {
  log("The ledger can no longer be written; the service ends.", { error });
  setTimeout(() => endWithError(error), FAIL_GRACE_MS);
}

/** The app that is served: the service, or the answers of a machine that stands by. */
type Served = { app: Hono; ledger: DiskLedger; standby?: true };

/** Says where it listens and what it serves, as one line of JSON. */
function say(config: SettlementConfig, { ledger, standby }: Served, listening: string): void {
  const about = { ledger: config.ledger, file: ledger.path, size: ledger.size, head: ledger.head };
  const line = { listening, ...about, root: toHex(ledger.tree.root()), ...(standby && { standby }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Listens, and answers with the app that was shown last. Also ends the process at SIGTERM and SIGINT.
 *
 * @param close closes everything before the process ends
 * @returns a function that shows another app
 */
function show(config: SettlementConfig, first: Served, close: () => Promise<void>) {
  let served = first;
  const onFault = logFaults(log);
  surviveRequests(onFault, endWithError);
  const { host, port } = config;
  const listening = listen(
    getRequestListener((...request: Parameters<Hono["fetch"]>) => served.app.fetch(...request)),
    {
      ...{ host, port, onFault },
      settings: "SETTLEMENT_HOST and SETTLEMENT_PORT",
      limits: readLimits(config.rateLimits),
    },
  );
  // If it cannot listen, for example because the port is taken, everything is closed as at a normal stop.
  listening.catch((error) =>
    close()
      .catch((closing) => log("The service did not close.", { error: closing }))
      .finally(() => endWithError(error)),
  );
  const saySo = (): void => {
    listening.then(
      ({ url }) => say(config, served, url),
      () => {},
    );
  };
  saySo();
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log("Stopping.", { signal });
    await (await listening).close(STOP_GRACE_MS);
    await close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void stop(signal).catch(endWithError));
  }
  return (next: Served): void => {
    served = next;
    saySo();
  };
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const stop = new AbortController();
  let showNext = undefined as ((next: Served) => void) | undefined;
  const opening = openService({
    config,
    now: () => Date.now() / 1000,
    log,
    onFailure: fail,
    signal: stop.signal,
    onStandby: (app, ledger) => {
      showNext = show(config, { app, ledger, standby: true }, close);
    },
  });
  async function close(): Promise<void> {
    stop.abort();
    const service = await opening.catch(() => undefined);
    await service?.close();
  }
  const service = await opening.catch((error) => {
    // The process may be told to stop while it stands by. Then `stop` above ends the process.
    if (!stop.signal.aborted) throw error;
  });
  if (service === undefined) return;
  if (await service.isClosed())
    log("POST /v1/settle is closed: nobody has a key (tallystick keys add NAME).");
  if (showNext) showNext(service);
  else show(config, service, close);
}

main().catch(endWithError);
