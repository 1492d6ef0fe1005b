import type { Server } from "node:http";
import { ClientBudgets } from "./clientBudgets.ts";
import { guardServer } from "./guardServer.ts";
import { limitClients } from "./limitClients.ts";
import { limitSockets } from "./limitSockets.ts";
import { limitTime } from "./limitTime.ts";
import type { OnFault } from "./requestScope.ts";

/**
 * Protects a server that gives its clients no budgets, because it counts requests itself or serves its operator
 * only: faults, time, connections, requests that wait on one connection, and bodies that nobody reads. Call it
 * after the server has its request listener.
 */
export function protectListener(
  server: Server,
  { trustedProxies, onFault }: { trustedProxies: number; onFault: OnFault },
): void {
  const limits = { pointsPerSecond: 0, burst: 0, atOnce: 0, waiting: 0, streams: 0 };
  const budgets = new ClientBudgets(limits, () => performance.now() / 1_000);
  guardServer(server, onFault);
  limitTime(server);
  limitSockets(server, { trustedProxies });
  limitClients(server, { budgets, trustedProxies, priceOf: () => 0 });
}
