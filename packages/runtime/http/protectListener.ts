import type { Server } from "node:http";
import { ClientBudgets } from "./clientBudgets.ts";
import { guardServer } from "./guardServer.ts";
import { type ClientLimits, limitClients } from "./limitClients.ts";
import { limitSockets } from "./limitSockets.ts";
import { limitTime } from "./limitTime.ts";
import type { OnFault } from "./requestScope.ts";

/**
 * Protects a server against errors in its listeners, slow clients, too many connections, many waiting requests on one
 * connection, and bodies that nobody reads. Call it after the server has its request listener.
 *
 * @param parameters.limits the clients' budgets. Leave them out if the server counts requests itself, or serves only
 * its operator
 */
export function protectListener(
  server: Server,
  { trustedProxies, onFault, limits }: { trustedProxies: number; onFault: OnFault; limits?: ClientLimits },
): void {
  guardServer(server, onFault);
  limitTime(server);
  limitSockets(server, { trustedProxies, ...(limits && { budgets: limits.budgets }) });
  limitClients(server, limits ?? { budgets: withoutLimit(), trustedProxies, priceOf: () => 0 });
}

function withoutLimit(): ClientBudgets {
  const limits = { pointsPerSecond: 0, burst: 0, atOnce: 0, waiting: 0, streams: 0 };
  return new ClientBudgets(limits, () => performance.now() / 1_000);
}
