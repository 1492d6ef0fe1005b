import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { signRecord } from "tallystick-protocol/records/record";
import type { RecordType } from "tallystick-protocol/records/recordTypes";
import { type Listening, listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import type { Log } from "tallystick-runtime/stderrLog";
import { knownLedger } from "tallystick-sdk/knownLedger";
import { resolveHost } from "tallystick-sdk/net/resolveHost";
import { readSettledEntry } from "tallystick-sdk/readSettledEntry";
import { requestService } from "tallystick-sdk/requestService";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { privateKeyToAccount } from "viem/accounts";
import type { ProberConfig } from "./config.ts";
import { readListings } from "./hosts/readListings.ts";
import { type MonitoringDesk, openMonitoringDesk } from "./monitoring/monitoringDesk.ts";
import { readMonitored } from "./monitoring/readMonitored.ts";
import { ask } from "./net/ask.ts";
import { lookUp } from "./net/lookUp.ts";
import { openPolicy, type Policy, publicPolicy } from "./net/policy.ts";
import { testUplink } from "./net/testUplink.ts";
import { Prober } from "./prober.ts";
import { openProberFolder } from "./proberFolder.ts";
import { drawnMoments } from "./schedule/drawnMoments.ts";
import { ROBOT } from "./terms/robots.ts";

/** The intervals for starting due work, sending reports and reading the listings again, in milliseconds. */
const TICK_MS = 200;
const SEND_MS = 30_000;
const REFRESH_MS = 900_000;

/** The pause between two agents whose own monitoring is read, in milliseconds. */
const MONITORING_MS = 1_000;

/** Tests replace the rules of the network and the clock of this machine. */
export type Surroundings = {
  policy?: Policy;
  resolve?: (host: string) => Promise<string[]>;
  /** Unix seconds. */
  now?: () => number;
};

/** A running prober, and the URL of its metrics. */
export type RunningProber = { url: string; address: Address; prober: Prober; close: () => Promise<void> };

/**
 * Opens a prober on its folder and runs it.
 *
 * @throws TallystickError `prober_folder`, `cannot_listen`
 */
export async function runProber(
  config: ProberConfig,
  log: Log,
  surroundings: Surroundings = {},
): Promise<RunningProber> {
  return await closeOnError((opened) => startProber(config, log, surroundings, opened));
}

async function startProber(
  config: ProberConfig,
  log: Log,
  { policy = config.devMode ? openPolicy : publicPolicy, resolve = resolveHost, now }: Surroundings,
  opened: OnOpened,
): Promise<RunningProber> {
  const release = await openProberFolder(config.folder);
  opened(release);
  const stop = new AbortController();
  const account = privateKeyToAccount(config.privateKey);
  const address = account.address.toLowerCase() as Address;
  const { nodeUrl, ledger, folder } = config;
  const named = knownLedger({ baseUrl: nodeUrl, ledger, store: fileStore(path.join(folder, "state")) });
  const settle = async (type: RecordType, body: RecordBody): Promise<{ hash: string }> => {
    const record = await signRecord({ type, ledger: await named(stop.signal), body, account });
    const { text } = await requestService({
      baseUrl: nodeUrl,
      path: "/v1/records",
      body: record,
      signal: stop.signal,
    });
    return { hash: readSettledEntry(text).hash };
  };
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal: stop.signal });
  const { region, maxHosts, requestsPerSecond, keep, leaveOut, uplink, contact } = config;
  const userAgent = `${ROBOT}/1.0 (+${contact})`;
  const prober = await Prober.open({
    ...{ folder, region, maxHosts, requestsPerSecond, keep, leaveOut },
    log,
    policy,
    resolve,
    send: (body) => settle("uptime", body),
    now: now ?? (() => Date.now() / 1_000),
    moments: drawnMoments(config.privateKey),
    asker: { address, userAgent },
    listings: () => readListings({ baseUrl: nodeUrl, pause, signal: stop.signal }),
    testUplink: () => testUplink(uplink, (host) => lookUp(host, policy, resolve)),
  });
  opened(() => prober.close());
  const monitoring = await openMonitoringDesk(fileStore(path.join(folder, "state")), {
    ...{ ask, pacer: prober.pacer, policy, resolve, leaveOut, userAgent, log, signal: stop.signal },
    monitored: () => readMonitored(nodeUrl, stop.signal),
    pause: () => pause(MONITORING_MS),
    send: (body) => settle("monitoring", body),
    now: now ?? (() => Date.now() / 1_000),
  });
  const server = await serve(prober, monitoring, config, log);
  const every = (ms: number, work: () => unknown): NodeJS.Timeout => setInterval(work, ms);
  let refreshing: Promise<void> | undefined;
  const refresh = (): void => {
    refreshing ??= prober.refresh().finally(() => {
      refreshing = undefined;
    });
  };
  let reporting: Promise<void> | undefined;
  const report = (): void => {
    reporting ??= prober
      .report()
      .catch((error) => log("The reports could not be made or sent.", { error }))
      .finally(() => {
        reporting = undefined;
      });
  };
  let monitored: Promise<void> | undefined;
  const monitor = (): void => {
    monitored ??= monitoring
      .round()
      .catch((error) => {
        if (!stop.signal.aborted) log("Agents' own monitoring could not be read.", { error });
      })
      .finally(() => {
        monitored = undefined;
      });
  };
  const timers = [
    every(TICK_MS, () => prober.tick()),
    every(SEND_MS, report),
    every(REFRESH_MS, refresh),
    every(REFRESH_MS, monitor),
  ];
  refresh();
  report();
  return {
    url: server.url,
    address,
    prober,
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      stop.abort(new Error("the prober was stopped"));
      // The round of monitoring may wait for its turn.
      prober.pacer.close();
      await Promise.allSettled([refreshing, reporting, monitored]);
      await prober.close();
      await server.close();
      await release();
    },
  };
}

/**
 * Serves `GET /metrics` for Prometheus, `GET /health`, and `GET /monitoring`: the figures that agents give
 * about themselves, next to the measured ones.
 */
function serve(
  prober: Prober,
  monitoring: MonitoringDesk,
  { host, port }: ProberConfig,
  log: Log,
): Promise<Listening> {
  const app = new Hono();
  app.get("/health", (c) => c.json({ status: "ok", ...prober.status() }));
  app.get("/metrics", async () => {
    const { metrics } = prober;
    return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
  });
  app.get("/monitoring", (c) => c.json({ agents: monitoring.reports() }));
  const onFault = logFaults(log);
  const settings = "PROBER_HOST and PROBER_PORT";
  return listen(getRequestListener(app.fetch), { host, port, settings, onFault });
}
