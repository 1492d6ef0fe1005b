import { createServer, type Server } from "node:http";
import path from "node:path";
import { getRequestListener } from "@hono/node-server";
import { TallystickError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import { ClientBudgets, pointsAMinute } from "tallystick-runtime/http/clientBudgets";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { limitTime } from "tallystick-runtime/http/limitTime";
import { createWitnessApp } from "./app.ts";
import type { WitnessConfig } from "./config.ts";
import { Witness } from "./witness.ts";
import { witnessSeed } from "./witnessKey.ts";
import { WitnessStore } from "./witnessStore.ts";

/** How many requests of one address may run at the same time, and how many may wait. */
const AT_ONCE = 2;
const WAITING = 16;

export type RunningWitness = {
  url: string;
  verifierKey: string;
  origins: string[];
  close: () => Promise<void>;
};

export type RunWitnessParameters = {
  config: WitnessConfig;
  /** Unix seconds. */
  now: () => number;
  /** Called with internal errors of requests. */
  onFault: (error: unknown) => void;
};

/** Runs a witness until it is closed. Resolves when it listens. */
export async function runWitness({ config, now, onFault }: RunWitnessParameters): Promise<RunningWitness> {
  const { name, logs, host, trustedProxies } = config;
  const folder = path.resolve(config.folder);
  const store = new WitnessStore(folder);
  const seed = config.privateKey
    ? fromHex(config.privateKey, 32)
    : witnessSeed(folder, { isNew: store.isEmpty });
  const witness = new Witness({ name, seed, logs, store, now });
  const server = createServer(getRequestListener(createWitnessApp(witness, onFault).fetch));
  const limits = { atOnce: AT_ONCE, waiting: WAITING, streams: 0 };
  const budgets = new ClientBudgets({ ...pointsAMinute(config.requestsPerAddress), ...limits }, now);
  guardServer(server, onFault);
  limitTime(server);
  limitSockets(server, { budgets, trustedProxies });
  limitClients(server, { budgets, trustedProxies });
  try {
    await listen(server, config);
  } catch (error) {
    store.close();
    throw error;
  }
  const { port } = server.address() as { port: number };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    verifierKey: witness.verifierKey,
    origins: witness.origins,
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      store.close();
    },
  };
}

function listen(server: Server, { host, port }: WitnessConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new TallystickError({
          code: "cannot_listen",
          message: `Nothing can listen at ${host}, port ${port}: ${cause.message}.`,
          hint: "Stop what listens there, or set WITNESS_HOST and WITNESS_PORT.",
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
