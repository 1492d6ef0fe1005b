import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ClientBudget, ClientBudgets } from "./clientBudgets.ts";
import { askerOf, clientOf } from "./clientOf.ts";

/** What a route finds of a request that was let in. */
export type Admitted = {
  budget: ClientBudget;
  /** Gives its turn back before it is answered: from here on it only waits for somebody else. */
  endTurn: () => void;
  /**
   * Makes the answer a stream: it counts as one until the connection is done with it, and no longer takes up a turn.
   *
   * @returns false when the client has as many as it may
   */
  becomeStream: () => boolean;
};

export type ClientLimits = {
  budgets: ClientBudgets;
  /** How many proxies stand in front of this server and tell who asked them (see `clientOf`). */
  trustedProxies: number;
  /** What a request costs before anything is known of its answer, by its path; 0: it is always let in. Default 1. */
  priceOf?: (path: string) => number;
};

/** Bytes of an answer that cost a point. */
const BYTES_PER_POINT = 16 * 1024;

const admitted = new WeakMap<IncomingMessage, Admitted>();

/** The budget under which a request was let in; undefined where nothing is limited. */
export function admittedOf(request: IncomingMessage | undefined): Admitted | undefined {
  return request && admitted.get(request);
}

/**
 * Lets every client of a server spend its own budget only: before anything else sees a request, it is counted, made to wait
 * for a turn, or answered 429 with `Retry-After` at the price of a few lines. To be called before the server listens, and
 * after it was given its listener.
 */
export function limitClients(server: Server, limits: ClientLimits): void {
  const { budgets, trustedProxies, priceOf = () => 1 } = limits;
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    const serveIt = () => {
      // It may have left while it waited.
      if (!response.destroyed) for (const listener of listeners) listener.call(server, request, response);
    };
    const price = priceOf((request.url ?? "").split("?", 1)[0] as string);
    if (price === 0) return serveIt();
    const budget = budgets.of(clientOf(askerOf(request), trustedProxies));
    const { secondsToWait } = budget;
    if (secondsToWait > 0) return refuse(response, secondsToWait, "has used up what it may ask for");
    budget.charge(price);
    const before = request.socket.bytesWritten;
    let endsAtOnce = false;
    let endTurn: (() => void) | undefined;
    const endsNow = () => {
      // The turn may begin and end before it is known here.
      endsAtOnce = true;
      endTurn?.();
    };
    admitted.set(request, {
      budget,
      endTurn: endsNow,
      becomeStream: () => {
        const close = budget.openStream();
        if (close === undefined) return false;
        endsNow();
        if (response.destroyed) close();
        else response.once("close", close);
        return true;
      },
    });
    endTurn = budget.takeTurn(serveIt);
    if (endTurn === undefined) return refuse(response, 1, "asks too much at once");
    if (endsAtOnce) endTurn();
    response.once("close", () => {
      endTurn();
      budget.charge(Math.max(0, request.socket.bytesWritten - before) / BYTES_PER_POINT);
    });
  });
}

/** The budget of whoever asks for an upgrade, which is no request of the server's. */
export function budgetOfUpgrade(request: IncomingMessage, limits: ClientLimits): ClientBudget {
  return limits.budgets.of(clientOf(askerOf(request), limits.trustedProxies));
}

/** The body of every 429. */
export function tooManyRequests(why: string, seconds: number): string {
  return JSON.stringify({
    code: "rate_limited",
    title: "Too Many Requests",
    status: 429,
    detail: `This address ${why}; try again in ${seconds} s.`,
  });
}

/** Answers 429 and closes, so that what stands behind it in the pipeline costs a new connection. */
function refuse(response: ServerResponse, seconds: number, why: string): void {
  const body = tooManyRequests(why, seconds);
  response.writeHead(429, {
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    "retry-after": String(seconds),
    "access-control-allow-origin": "*",
    connection: "close",
  });
  response.end(body);
}

/**
 * Lets an address have so many connections open at once, and the server so many in all. Not for a server behind proxies: there
 * all come from few addresses, and the proxies have to see to it.
 */
export function limitSockets(
  server: Server,
  { perAddress, inAll }: { perAddress: number; inAll: number },
): void {
  server.maxConnections = inAll;
  if (perAddress === 0) return;
  const open = new Map<string, number>();
  const emit = server.emit.bind(server) as (event: string | symbol, ...given: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== "connection") return emit(event, ...given);
    const socket = given[0] as Socket;
    const address = clientOf({ remoteAddress: socket.remoteAddress, forwardedFor: undefined }, 0);
    const count = (open.get(address) ?? 0) + 1;
    if (count > perAddress) {
      socket.on("error", () => {});
      socket.end(
        `HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
      );
      socket.destroySoon();
      return true;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    return emit(event, ...given);
  };
}
