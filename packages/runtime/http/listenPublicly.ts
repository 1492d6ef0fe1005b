import { createServer, type RequestListener } from "node:http";
import { TallystickError } from "tallystick-protocol/errors";
import { ClientBudgets, pointsAMinute } from "./clientBudgets.ts";
import { guardServer } from "./guardServer.ts";
import { limitClients } from "./limitClients.ts";
import { limitSockets } from "./limitSockets.ts";
import { limitTime } from "./limitTime.ts";

/** How many requests of one address may run at the same time by default, and how many may wait. */
const AT_ONCE = 2;
const WAITING = 16;

export type ListenPubliclyParameters = {
  host: string;
  port: number;
  /** Names of the two settings above, for the error. */
  settings: string;
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  /** Requests of one address that run at the same time; 0 for no limit. Default 2. */
  atOnce?: number;
  trustedProxies: number;
  /** Unix seconds. */
  now: () => number;
  /** Called with internal errors of requests. */
  onFault: (error: unknown) => void;
};

/**
 * Serves anybody, with limits for each client, of time and of sockets. Resolves when it listens.
 *
 * @throws TallystickError `cannot_listen`
 */
export async function listenPublicly(
  listener: RequestListener,
  parameters: ListenPubliclyParameters,
): Promise<{ url: string; close: () => Promise<void> }> {
  const {
    host,
    port,
    settings,
    requestsPerAddress,
    trustedProxies,
    now,
    onFault,
    atOnce = AT_ONCE,
  } = parameters;
  const server = createServer(listener);
  const limits = { atOnce, waiting: WAITING, streams: 0 };
  const budgets = new ClientBudgets({ ...pointsAMinute(requestsPerAddress), ...limits }, now);
  guardServer(server, onFault);
  limitTime(server);
  limitSockets(server, { budgets, trustedProxies });
  limitClients(server, { budgets, trustedProxies });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new TallystickError({
          code: "cannot_listen",
          message: `Nothing can listen at ${host}, port ${port}: ${cause.message}.`,
          hint: `Stop what listens there, or set ${settings}.`,
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  const at = server.address() as { port: number };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${at.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
