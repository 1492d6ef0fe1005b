import path from "node:path";
import { getRequestListener } from "@hono/node-server";
import { limitsPerAddress } from "tallystick-runtime/http/limitsPerAddress";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { lockFolder } from "tallystick-runtime/processes/lockFolder";
import type { Log } from "tallystick-runtime/stderrLog";
import { fileStore } from "tallystick-sdk/store/fileStore";
import type { DispatchConfig } from "./config.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { createDispatchApp } from "./http/app.ts";
import { noSpans, openSpans } from "./telemetry.ts";

/** The most requests of one address that run, and the most that queue. Most running requests only wait for a task. */
const AT_ONCE = 64;
const WAITING = 256;

export type RunningDispatch = { url: string; dispatcher: Dispatcher; close: () => Promise<void> };

/**
 * Runs a dispatcher until it is closed. Resolves when it listens and has resumed the tasks of an earlier
 * process.
 *
 * @throws TallystickError `dispatch_folder`, `cannot_listen`; InvalidInputError `missing_key`
 */
export async function runDispatch(config: DispatchConfig, log: Log): Promise<RunningDispatch> {
  return await closeOnError((opened) => startDispatch(config, log, opened));
}

async function startDispatch(config: DispatchConfig, log: Log, opened: OnOpened): Promise<RunningDispatch> {
  const { models, settlementUrl, settlementKey, callers, name, perTask, perDay } = config;
  const release = await lockFolder(path.resolve(config.folder), {
    ...{ file: "dispatch.lock", program: "dispatcher" },
    code: "dispatch_folder",
    hint: "Stop the other dispatcher, check the folder's permissions, or set DISPATCH_DIR.",
  });
  opened(release);
  const dispatcher = createDispatcher({
    models,
    settlement: { baseUrl: settlementUrl, apiKey: settlementKey },
    store: fileStore(path.resolve(config.folder)),
    perTask,
    perDay,
    name,
    atOnce: config.atOnce,
    environment: config.environment,
    spans: config.traces ? openSpans() : noSpans,
    log,
  });
  opened(() => dispatcher.close());
  const onFault = logFaults(log);
  const app = createDispatchApp({ dispatcher, callers, onFault });
  const server = await listen(getRequestListener(app.fetch), {
    ...config,
    settings: "DISPATCH_HOST and DISPATCH_PORT",
    limits: limitsPerAddress({ ...config, atOnce: AT_ONCE, waiting: WAITING }),
    onFault,
  });
  opened(() => server.close());
  const left = await dispatcher.resume();
  if (left > 0) log("Tasks of an earlier process are continued.", { tasks: left });
  return {
    url: server.url,
    dispatcher,
    close: async () => {
      await dispatcher.close();
      await server.close();
      await release();
    },
  };
}
