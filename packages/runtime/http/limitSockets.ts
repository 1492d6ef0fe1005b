import type { Server } from "node:http";
import { BlockList, type Socket } from "node:net";
import type { ClientBudgets } from "./clientBudgets.ts";
import { clientOf } from "./clientOf.ts";
import { holdMs } from "./holdMs.ts";
import { PROMPT_REFUSALS } from "./refuseRequest.ts";

/** Default limits for open connections of one address (for IPv6, a /64 network) and of all clients. */
export const SOCKETS_PER_ADDRESS = 256;
const MAX_SOCKETS = 4_000;

/**
 * The price of a connection, in points of its address's budget. It is lower than the price of any request that is not
 * free.
 */
const CONNECTION_POINTS = 0.2;

/**
 * Addresses of this machine. The supervisor asks from here whether the process is healthy, and must not wait.
 */
const OWN_ADDRESSES = new Set(["127.0.0.1", "0:0:0:0"]);

/**
 * The number of new connections that an address may open in one moment, and the number that it earns with each
 * second. With the default points, a client that asks no faster than it earns points stays below this limit, even if
 * it opens a connection for each request. Above the limit Node closes a connection before it makes any object for it.
 * That costs a quarter of the usual work. A process cannot do better, because the kernel has already accepted the
 * connection.
 */
const OPENED_AT_ONCE = 256;
const OPENED_PER_SECOND = 100;

/** Addresses whose new connections are counted. With more, all counts start again. */
const MAX_ADDRESSES = 10_000;

type Address = { open: number; held: number; refusals: number };

/**
 * Limits the open connections of each address and of the whole server. Behind proxies all connections come
 * from a few addresses. Then only the limit of the server applies, and the proxies must limit the clients.
 *
 * @param parameters.perAddress 0 for no limit
 * @param parameters.budgets the budgets that pay for connections. If a client has no points left and was
 * refused many times, its requests are not read any more. Each of its connections waits for a second or more
 * (`holdMs`) and gets a 429
 */
export function limitSockets(
  server: Server,
  {
    trustedProxies,
    perAddress = SOCKETS_PER_ADDRESS,
    inAll = MAX_SOCKETS,
    budgets,
    now = () => performance.now() / 1_000,
  }: {
    trustedProxies: number;
    perAddress?: number;
    inAll?: number;
    budgets?: ClientBudgets;
    /** Seconds. */
    now?: () => number;
  },
): void {
  server.maxConnections = inAll;
  if (trustedProxies > 0 || perAddress === 0) return;
  const addresses = new Map<string, Address>();
  dropTooMany(server, Math.max(perAddress, OPENED_AT_ONCE), now);
  const emit = server.emit.bind(server) as (event: string | symbol, ...given: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== "connection") return emit(event, ...given);
    const socket = given[0] as Socket;
    const name = clientOf({ remoteAddress: socket.remoteAddress, forwardedFor: undefined }, 0);
    const address = addresses.get(name) ?? { open: 0, held: 0, refusals: 0 };
    if (address.open >= perAddress) {
      socket.on("error", () => {});
      // Sending the refusal costs more than everything else here, so only the first refusals are sent.
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
    const timer = setTimeout(
      () => refuseSocket(socket, Math.max(1, budget.secondsToWait)),
      holdMs(address.held++),
    );
    socket.once("close", () => {
      address.held--;
      clearTimeout(timer);
    });
    return true;
  };
}

/**
 * A `net.Server` looks at its list before it makes a socket. In Node's types the list is only an option of the
 * constructor.
 */
type WithBlockList = Server & { blockList?: BlockList };

/** Drops connections of addresses that open too many in a short time, before a socket exists. */
function dropTooMany(server: WithBlockList, atOnce: number, now: () => number): void {
  /**
   * The time up to which the connections of an address have used what it earns, in seconds: a leaky bucket. Each
   * connection moves the time forward.
   */
  const paidAt = new Map<string, number>();
  const list = new BlockList();
  list.check = (remoteAddress) => {
    const address = clientOf({ remoteAddress: String(remoteAddress), forwardedFor: undefined }, 0);
    if (OWN_ADDRESSES.has(address)) return false;
    const at = now();
    const paid = Math.max(at, paidAt.get(address) ?? 0) + 1 / OPENED_PER_SECOND;
    if (paid - at > (atOnce + 0.5) / OPENED_PER_SECOND) return true;
    if (paidAt.size >= MAX_ADDRESSES) paidAt.clear();
    paidAt.set(address, paid);
    return false;
  };
  server.blockList = list;
}

function refuseSocket(socket: Socket, seconds: number): void {
  socket.end(
    `HTTP/1.1 429 Too Many Requests\r\nretry-after: ${seconds}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
  socket.destroySoon();
}
