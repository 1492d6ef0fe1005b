import { getRequestListener } from "@hono/node-server";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { lockFolder } from "tallystick-runtime/processes/lockFolder";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { operatorApp } from "./app.ts";
import type { AuditingConfig } from "./config.ts";
import { createMetrics } from "./metrics.ts";
import { openOperator } from "./openOperator.ts";

/** A running operator's process. `url` serves its state and metrics. */
export type RunningOperator = { url: string; close: () => Promise<void> };

/**
 * Opens an operator, serves its state and metrics over HTTP, and starts its rounds. Two operators on one folder would send
 * transactions of the pool with the same nonces.
 *
 * @throws TallystickError `operator_folder`, `cannot_listen`
 */
export async function runOperator(config: AuditingConfig): Promise<RunningOperator> {
  return await closeOnError((opened) => startOperator(config, opened));
}

async function startOperator(config: AuditingConfig, opened: OnOpened): Promise<RunningOperator> {
  const now = Date.now;
  const release = await lockFolder(config.folder, {
    ...{ file: "operator.lock", program: "operator of audits" },
    code: "operator_folder",
    hint: "Stop the other operator, check the folder's permissions, or set AUDIT_DIR.",
  });
  opened(release);
  const operator = await openOperator({ config, log, now });
  opened(() => operator.close());
  const { state } = operator;
  const { roundMs, host, port } = config;
  const app = operatorApp({ state, metrics: createMetrics(state), roundMs, now, startedAt: now() });
  const onFault = logFaults(log);
  const settings = "AUDIT_HOST and AUDIT_PORT";
  const server = await listen(getRequestListener(app.fetch), { host, port, settings, onFault });
  operator.start();
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await operator.close();
      await release();
    },
  };
}
