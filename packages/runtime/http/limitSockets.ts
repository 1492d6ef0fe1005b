import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { ClientBudgets } from "./clientBudgets.ts";
import { clientOf } from "./clientOf.ts";
import { HOLD_MS, PROMPT_REFUSALS } from "./limitClients.ts";

/** Connections open at one time, of one address (an IPv6 /64) and in all, unless somebody says otherwise. */
export const SOCKETS_PER_ADDRESS = 256;
const MOST_SOCKETS = 4_000;

/** What a connection costs of its address's budget, in points: less than any request on it. */
const CONNECTION_POINTS = 0.2;

/** The supervisor of this process asks from here whether it is healthy, and must not wait. */
const OWN_ADDRESSES = new Set(["127.0.0.1", "0:0:0:0"]);

type Address = { open: number; refusals: number };

/**
 * Lets an address have so many connections open at once, and the server so many in all. Behind proxies all connections come
 * from few addresses: there only those in all are counted, and the proxies have to see to the rest.
 *
 * @param parameters.perAddress 0 for no limit
 * @param parameters.budgets whose points connections cost. A client that has none left and was refused again and again is no
 *   longer read at all: its connections are held for a second and answered 429 as they are
 */
export function limitSockets(
  server: Server,
  {
    trustedProxies,
    perAddress = SOCKETS_PER_ADDRESS,
    inAll = MOST_SOCKETS,
    budgets,
  }: { trustedProxies: number; perAddress?: number; inAll?: number; budgets?: ClientBudgets },
): void {
  server.maxConnections = inAll;
  if (trustedProxies > 0 || perAddress === 0) return;
  const addresses = new Map<string, Address>();
  const emit = server.emit.bind(server) as (event: string | symbol, ...given: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== "connection") return emit(event, ...given);
    const socket = given[0] as Socket;
    const name = clientOf({ remoteAddress: socket.remoteAddress, forwardedFor: undefined }, 0);
    const address = addresses.get(name) ?? { open: 0, refusals: 0 };
    if (address.open >= perAddress) {
      socket.on("error", () => {});
      // To say it costs more than all else, so it is not said for ever.
      if (++address.refusals <= PROMPT_REFUSALS) refuseSocket(socket, 5);
      else socket.resetAndDestroy();
      return true;
    }
    addresses.set(name, address);
    address.open++;
    address.refusals = 0;
    socket.once("close", () => {
      if (--address.open === 0) addresses.delete(name);
    });
    const budget = budgets?.of(name);
    budget?.charge(CONNECTION_POINTS);
    if (budget === undefined || OWN_ADDRESSES.has(name) || budget.secondsToWait === 0)
      return emit(event, ...given);
    if (budget.refuse() <= PROMPT_REFUSALS) return emit(event, ...given);
    socket.on("error", () => {});
    const timer = setTimeout(() => refuseSocket(socket, Math.max(1, budget.secondsToWait)), HOLD_MS);
    socket.once("close", () => clearTimeout(timer));
    return true;
  };
}

function refuseSocket(socket: Socket, seconds: number): void {
  socket.end(
    `HTTP/1.1 429 Too Many Requests\r\nretry-after: ${seconds}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
  socket.destroySoon();
}
