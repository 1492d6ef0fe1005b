import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PROBLEM_MEDIA_TYPE, problem } from "tallystick-protocol/problem";
import type { ClientBudget, ClientBudgets } from "./clientBudgets.ts";
import { askerOf, clientOf } from "./clientOf.ts";
import { inTurnsOf } from "./turns.ts";

/** What a route can do with the budget of its request. */
export type Admitted = {
  budget: ClientBudget;
  /**
   * Gives the request's turn back before the answer. Call it when the request only waits for another service.
   */
  endTurn: () => void;
  /**
   * Makes the answer a stream. It counts as a stream until the connection closes, and gives its turn back.
   *
   * @returns false if the client already has all the streams that it may have
   */
  becomeStream: () => boolean;
};

export type ClientLimits = {
  budgets: ClientBudgets;
  /**
   * How many trusted proxies are in front of this server. They tell the client's address (see `clientOf`).
   */
  trustedProxies: number;
  /** The price of a request by its path, before its answer is known; 0: no limit. Default 1. */
  priceOf?: (path: string) => number;
};

/** Bytes of an answer that cost one point. */
const BYTES_PER_POINT = 16 * 1024;

/** Bytes of a request that cost one point, because reading them takes work. The first this many are free. */
const BYTES_IN_PER_POINT = 4 * 1024;

const SMALL_BYTES = 64 * 1024;

/** This many refusals in a row are answered at once. After them each refusal is delayed. */
export const PROMPT_REFUSALS = 16;

/**
 * The delay of such a refusal, in milliseconds. A client that asks again after each answer then asks once a
 * second.
 */
export const HOLD_MS = 1_000;

const admitted = new WeakMap<IncomingMessage, Admitted>();

/** The budget of a request that was let in; undefined if the request is not limited. */
export function admittedOf(request: IncomingMessage | undefined): Admitted | undefined {
  return request && admitted.get(request);
}

/**
 * Gives every client of a server its own budget. Each request is first counted. Then it waits for its turn,
 * or gets a 429 with `Retry-After`. A client that keeps asking gets its refusals a second later. Call it
 * after the server has its request listener, and before it listens.
 */
export function limitClients(server: Server, limits: ClientLimits): void {
  const { budgets, trustedProxies, priceOf = () => 1 } = limits;
  const bytesIn = new WeakMap<Socket, number>();
  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    client: string,
    seconds: number,
    why: string,
  ) => {
    // Many clients share a proxy's connection, so it stays open, unless a large body is still to come.
    const isKept = trustedProxies > 0 && isSmall(request);
    const answer = () => answerRefusal(response, { seconds, why, isKept });
    const budget = budgets.of(client);
    if (trustedProxies > 0) refuseInTime(budget, response, answer);
    else {
      // Without a proxy the next connection waits (see `limitSockets`).
      budget.refuse();
      answer();
    }
  };
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    const serveIt = () => {
      // The client may have gone while its request waited.
      if (!response.destroyed) for (const listener of listeners) listener.call(server, request, response);
    };
    const price = priceOf((request.url ?? "").split("?", 1)[0] as string);
    if (price === 0) return serveIt();
    const client = clientOf(askerOf(request), trustedProxies);
    const budget = budgets.of(client);
    const { secondsToWait } = budget;
    if (secondsToWait > 0)
      return refuse(request, response, client, secondsToWait, "has used up what it may ask for");
    budget.charge(price);
    const { socket } = request;
    const before = socket.bytesWritten;
    let endsAtOnce = false;
    let endTurn: (() => void) | undefined;
    const endsNow = () => {
      // The turn may begin and end before `endTurn` is set.
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
    let hasWaited = false;
    const begin = () => {
      // While this request waited, the client's earlier requests may have used up the budget.
      if (!hasWaited || budget.owed <= price) return inTurnsOf(budget.statements, serveIt);
      endsNow();
      if (!response.destroyed)
        refuse(
          request,
          response,
          client,
          Math.max(1, budget.secondsToWait),
          "has used up what it may ask for",
        );
    };
    // `begin` may run after this call has ended. The binding keeps it in the context of this client.
    const giveBack = budget.takeTurn(AsyncLocalStorage.bind(begin));
    hasWaited = true;
    if (giveBack === undefined) return refuse(request, response, client, 1, "asks too much at once");
    // The next request of this client starts in a later turn of the event loop. Otherwise a client's requests
    // that end without waiting would run one after another, and all other clients would wait.
    const end = () => void setImmediate(giveBack);
    endTurn = end;
    if (endsAtOnce) end();
    response.once("close", () => {
      end();
      const read = socket.bytesRead - (bytesIn.get(socket) ?? 0);
      bytesIn.set(socket, socket.bytesRead);
      budget.charge(
        Math.max(0, socket.bytesWritten - before) / BYTES_PER_POINT +
          Math.max(0, read / BYTES_IN_PER_POINT - 1),
      );
    });
  });
}

/**
 * Answers a refusal. The first {@link PROMPT_REFUSALS} in a row are answered at once, the next ones after a
 * second. Only a limited number of a client's refusals wait at the same time.
 *
 * @param connection when it closes, the answer is no longer needed
 */
export function refuseInTime(budget: ClientBudget, connection: EventEmitter, answer: () => void): void {
  const release = budget.refuse() > PROMPT_REFUSALS ? budget.holdBack() : undefined;
  if (release === undefined) {
    answer();
    return;
  }
  const timer = setTimeout(() => {
    release();
    answer();
  }, HOLD_MS);
  connection.once("close", () => {
    clearTimeout(timer);
    release();
  });
}

/** The budget of a client that asks for an upgrade. Such a request does not reach the `request` listener. */
export function budgetOfUpgrade(request: IncomingMessage, limits: ClientLimits): ClientBudget {
  return limits.budgets.of(clientOf(askerOf(request), limits.trustedProxies));
}

/** The body of every 429. */
export function tooManyRequests(why: string, seconds: number): string {
  return JSON.stringify(problem(429, "rate_limited", `This address ${why}; try again in ${seconds} s.`));
}

/** Whether reading the rest of a request is cheaper than a new connection. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) <= SMALL_BYTES;
}

function answerRefusal(
  response: ServerResponse,
  { seconds, why, isKept }: { seconds: number; why: string; isKept: boolean },
): void {
  const body = tooManyRequests(why, seconds);
  response.writeHead(429, {
    "content-type": PROBLEM_MEDIA_TYPE,
    "content-length": Buffer.byteLength(body),
    "retry-after": String(seconds),
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "retry-after",
    // Requests that follow in the same pipeline then cost the client a new connection.
    ...(!isKept && { connection: "close" }),
  });
  response.end(body);
}
