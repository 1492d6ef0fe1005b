import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { lockFolder } from "tallystick-runtime/processes/lockFolder";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import type { NotifierConfig } from "./config.ts";
import { notifierRegistry } from "./metrics.ts";
import { openNotifier } from "./openNotifier.ts";

/** The process is unhealthy if no round has succeeded for `STALE_ROUNDS` times `roundMs` and one more minute. */
const STALE_ROUNDS = 10;

/** A running sender of notices, and the URL of its metrics. */
export type RunningNotifier = { url: string; close: () => Promise<void> };

/**
 * Opens a sender of notices, serves its state (`GET /health`, `GET /metrics`), and starts the sender. It locks the
 * folder, because two senders on one folder would send every notice twice.
 *
 * @param now milliseconds since 1970
 * @throws TallystickError `notifier_folder`, `cannot_listen`
 */
export async function runNotifier(config: NotifierConfig, now = Date.now): Promise<RunningNotifier> {
  return await closeOnError((opened) => startNotifier(config, now, opened));
}

async function startNotifier(
  config: NotifierConfig,
  now: () => number,
  opened: OnOpened,
): Promise<RunningNotifier> {
  const startedAt = now();
  const release = await lockFolder(config.folder, {
    ...{ file: "notifier.lock", program: "sender of notices" },
    code: "notifier_folder",
    hint: "Stop the other sender, check the folder's permissions, or set NOTIFIER_DIR.",
  });
  opened(release);
  const notifier = openNotifier({ config, log, now });
  opened(() => notifier.close());
  const { host, port, roundMs } = config;
  const registry = notifierRegistry(notifier.state);
  const app = new Hono();
  app.get("/health", (c) => {
    const state = notifier.state();
    const isStale = now() - Math.max(state.roundAt, startedAt) > STALE_ROUNDS * roundMs + 60_000;
    return c.json({ status: isStale ? "unhealthy" : "ok", ...state }, isStale ? 503 : 200);
  });
  app.get("/metrics", async () => {
    return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
  });
  const onFault = logFaults(log);
  const settings = "NOTIFIER_HOST and NOTIFIER_PORT";
  const server = await listen(getRequestListener(app.fetch), { host, port, settings, onFault });
  notifier.start();
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await notifier.close();
      await release();
    },
  };
}
