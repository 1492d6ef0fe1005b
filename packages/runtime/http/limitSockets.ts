import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { ClientBudgets } from "./clientBudgets.ts";
import { clientOf } from "./clientOf.ts";
import { HOLD_MS, PROMPT_REFUSALS } from "./limitClients.ts";

/** What a connection costs of its address's budget, in points: less than any request on it. */
const CONNECTION_POINTS = 0.2;

/** Whoever starts this process asks it from here whether it is well, and must not be kept waiting. */
const OWN_ADDRESSES = new Set(["127.0.0.1", "0:0:0:0"]);

type Address = { open: number; refusals: number };

/**
 * Lets an address have so many connections open at once, and the server so many in all. Not for a server behind proxies: there
 * all come from few addresses, and the proxies have to see to it.
 *
 * @param parameters.budgets whose points connections cost. A client that has none left and was refused again and again is no
 *   longer read at all: its connections are held for a second and answered 429 as they are
 */
export function limitSockets(
  server: Server,
  { perAddress, inAll, budgets }: { perAddress: number; inAll: number; budgets?: ClientBudgets },
): void {
  server.maxConnections = inAll;
  if (perAddress === 0) return;
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
