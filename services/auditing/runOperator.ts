import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { protectListener } from "tallystick-runtime/http/protectListener";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { operatorApp } from "./app.ts";
import type { AuditingConfig } from "./config.ts";
import { createMetrics } from "./metrics.ts";
import { openOperator } from "./openOperator.ts";

/** A running operator's process, and its metrics. */
export type RunningOperator = { url: string; close: () => Promise<void> };

/** Opens an operator, serves its figures, and begins. */
export async function runOperator(config: AuditingConfig): Promise<RunningOperator> {
  const now = Date.now;
  const operator = await openOperator({ config, log, now });
  const { state } = operator;
  const { roundMs, host: hostname, port } = config;
  const app = operatorApp({ state, metrics: createMetrics(state), roundMs, now, startedAt: now() });
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname, port }, (at) => resolve(at.port)) as Server;
  server.on("error", reject);
  const onFault = (error: unknown) => log("A request caused an internal error.", { error });
  protectListener(server, { trustedProxies: 0, onFault });
  const url = `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${await listening}`;
  operator.start();
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await operator.close();
    },
  };
}
