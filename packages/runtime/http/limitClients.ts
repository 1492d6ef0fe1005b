import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PROBLEM_MEDIA_TYPE, problem } from "tallystick-protocol/problem";
import type { ClientBudget, ClientBudgets } from "./clientBudgets.ts";
import { askerOf, clientOf } from "./clientOf.ts";
import { inTurnsOf } from "./turns.ts";

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

/** Bytes of a request that cost a point, since they are read and understood; as many are free. */
const BYTES_IN_PER_POINT = 4 * 1024;

const SMALL_BYTES = 64 * 1024;

/** Refusals in a row after which a client is made to wait for the next ones. */
export const PROMPT_REFUSALS = 16;

/** How long a refusal is held back then, in milliseconds: a client that asks again after each answer asks once a second. */
export const HOLD_MS = 1_000;

const admitted = new WeakMap<IncomingMessage, Admitted>();

/** The budget under which a request was let in; undefined where nothing is limited. */
export function admittedOf(request: IncomingMessage | undefined): Admitted | undefined {
  return request && admitted.get(request);
}

/**
 * Lets every client of a server spend its own budget only: before anything else sees a request, it is counted, made to wait
 * for a turn, or answered 429 with `Retry-After` at the price of a few lines. Who goes on asking is answered after a second.
 * To be called before the server listens, and after it was given its listener.
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
    // A proxy's connection is not this client's alone, and is worth keeping, unless there is more in it that nobody wants.
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
      // It may have left while it waited.
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
    let hasWaited = false;
    const begin = () => {
      // What it asked for earlier may have used up more than it had while this one waited.
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
    // It may start after the request has ended, and is still done for this client.
    const giveBack = budget.takeTurn(AsyncLocalStorage.bind(begin));
    hasWaited = true;
    if (giveBack === undefined) return refuse(request, response, client, 1, "asks too much at once");
    // The next of its requests begins after what others have sent meanwhile was looked at. Else requests that end without waiting
    // for anything are served one after another, however many there are, while everybody else waits.
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
 * Answers a refusal: the first of many in a row at once, the next ones after a second, for so many of a client at one time.
 *
 * @param connection whose end makes the answer needless
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

/** The budget of a client that asks for an upgrade, which is no request of the server's. */
export function budgetOfUpgrade(request: IncomingMessage, limits: ClientLimits): ClientBudget {
  return limits.budgets.of(clientOf(askerOf(request), limits.trustedProxies));
}

/** The body of every 429. */
export function tooManyRequests(why: string, seconds: number): string {
  return JSON.stringify(problem(429, "rate_limited", `This address ${why}; try again in ${seconds} s.`));
}

/** Whether the rest of a request is sooner read than its connection is opened again. */
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
    // So that what stands behind it in the pipeline costs a new connection.
    ...(!isKept && { connection: "close" }),
  });
  response.end(body);
}
