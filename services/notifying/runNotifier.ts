import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { Gauge, Registry } from "prom-client";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { limitTime } from "tallystick-runtime/http/limitTime";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import type { NotifierConfig } from "./config.ts";
import type { NotifierState } from "./notifier.ts";
import { openNotifier } from "./openNotifier.ts";

/** So many rounds without one that ended well, and the process is not healthy. */
const STALE_ROUNDS = 10;

/** A sender that works, and tells how it goes. */
export type RunningNotifier = { url: string; close: () => Promise<void> };

/** Opens a sender of notices, serves its figures (`GET /health`, `GET /metrics`), and begins. */
export async function runNotifier(config: NotifierConfig): Promise<RunningNotifier> {
  const now = Date.now;
  const startedAt = now();
  const notifier = openNotifier({ config, log, now });
  const { host: hostname, port, roundMs } = config;
  const registry = registryOf(notifier.state);
  const app = new Hono();
  app.get("/health", (c) => {
    const state = notifier.state();
    const isStale = now() - Math.max(state.roundAt, startedAt) > STALE_ROUNDS * roundMs + 60_000;
    return c.json({ status: isStale ? "unhealthy" : "ok", ...state }, isStale ? 503 : 200);
  });
  app.get("/metrics", async () => {
    return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname, port }, (at) => resolve(at.port)) as Server;
  server.on("error", reject);
  guardServer(server, (error) => log("A request left a fault behind.", { error }));
  limitTime(server);
  const url = `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${await listening}`;
  notifier.start();
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await notifier.close();
    },
  };
}

function registryOf(state: () => NotifierState): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: (it: NotifierState) => number): void => {
    new Gauge({
      name: `tallystick_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read(state()));
      },
    });
  };
  gauge(
    "notices_round_time_seconds",
    "When the last whole round ended; 0 before.",
    (it) => it.roundAt / 1_000,
  );
  gauge("notices_round_failures", "Rounds that failed, since the start.", (it) => it.failures);
  gauge("notices_subscriptions", "Subscriptions of buyers.", (it) => it.subscriptions);
  gauge("notices_confirmed", "Subscriptions whose address wants notices.", (it) => it.confirmed);
  gauge("notices_waiting", "Notices that were not taken yet.", (it) => it.waiting);
  gauge("notices_delivered", "Notices that were taken, since the start.", (it) => it.delivered);
  gauge("notices_failed", "Attempts that failed, since the start.", (it) => it.failed);
  gauge("notices_given_up", "Notices that nobody took in time, since the start.", (it) => it.givenUp);
  gauge("resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  return registry;
}
