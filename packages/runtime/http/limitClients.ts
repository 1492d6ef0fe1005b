import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { ClientBudget, ClientBudgets } from "./clientBudgets.ts";
import { askerOf, clientOf } from "./clientOf.ts";
import { pathOf } from "./pathOf.ts";
import { MAX_PIPELINED, pipelineOf } from "./pipelineOf.ts";
import { readInPieces } from "./readInPieces.ts";
import { announcedBytes, type Exchange, refuseRequest } from "./refuseRequest.ts";
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
  /**
   * The price of a request by its path (see `pathOf`) or by another property, before its answer is known. Default 1.
   * With 0 the request is free, and a client may send 20 such requests a second. With undefined the request is not
   * limited here.
   */
  priceOf?: (path: string, request: IncomingMessage) => number | undefined;
};

/** Bytes of an answer that cost one point. */
const BYTES_PER_POINT = 16 * 1024;

/**
 * Bytes of a request that cost one point, because reading them takes work. The same number of bytes at the start of
 * each request is free.
 */
const BYTES_IN_PER_POINT = 4 * 1024;

/**
 * The most bytes of a body that are read after the answer, so that the connection can stay open. If more bytes
 * remain, none of them is read.
 */
const MAX_REST_BYTES = 1024 * 1024;

/**
 * The price of each request that is parsed after the last answer of a connection. It also pays for the bytes behind
 * these requests, which are received and not parsed.
 */
const IGNORED_POINTS = 16;

/** Statements of the database that the price of a request pays for. A small answer needs two or three. */
const FREE_STATEMENTS = 4;

/** The price of each further statement. Postgres's work for it is about a quarter of that for a small answer. */
const STATEMENT_POINTS = 0.25;

const admitted = new WeakMap<IncomingMessage, Admitted>();

/** The budget of a request that was let in; undefined if the request is not limited. */
export function admittedOf(request: IncomingMessage | undefined): Admitted | undefined {
  return request && admitted.get(request);
}

const USED_UP = "has used up what it may ask for";

/**
 * Gives every client of a server its own budget. Each request is first counted. Then it waits for its turn,
 * or gets a 429 with `Retry-After`. A client that keeps asking gets its refusals a second later. Call this
 * function after the server has got its request listener, and before the server opens its port.
 */
export function limitClients(server: Server, limits: ClientLimits): void {
  const { budgets, trustedProxies, priceOf = () => 1 } = limits;
  const isProxied = trustedProxies > 0;
  readInPieces(server, { isProxied });
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  const take = (request: IncomingMessage, response: ServerResponse, serve: () => void) => {
    const pipeline = pipelineOf(request);
    const budget = budgets.of(clientOf(askerOf(request), trustedProxies));
    if (pipeline.ends) {
      // Parsing a request that is ignored costs work too, and counts as a refusal.
      budget.refuse();
      return budget.charge(IGNORED_POINTS);
    }
    const exchange = { request, response, budget, pipeline };
    watchReading(exchange);
    const price = priceOf(pathOf(request.url ?? ""), request);
    if (pipeline.waiting > MAX_PIPELINED) {
      budget.charge(price ?? 0);
      return refuseRequest(exchange, { isProxied: false, seconds: 1, why: "does not wait for answers" });
    }
    const serveIt = () => {
      // The client may have gone while its request waited.
      if (!response.destroyed) serve();
    };
    if (price === undefined) return serveIt();
    if (price === 0) return serveFree(exchange, { isProxied, serveIt });
    const { secondsToWait } = budget;
    if (secondsToWait > 0)
      return refuseRequest(exchange, { isProxied, seconds: secondsToWait, why: USED_UP });
    admit(exchange, { price, isProxied, serveIt });
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.on("request", (request, response) => take(request, response, () => serve(request, response)));
  // Without these two listeners, Node answers a request that has an `Expect` header before the request is counted.
  server.on("checkContinue", (request, response) =>
    take(request, response, () => {
      response.writeContinue();
      serve(request, response);
    }),
  );
  server.on("checkExpectation", (request, response) =>
    take(request, response, () => {
      response.writeHead(417, { "content-length": 0 });
      response.end();
    }),
  );
}

/**
 * Serves a request without a price. A client that sends many such requests gets its answers a second or more later.
 * So a flood of them costs no more than a flood of refused requests.
 */
function serveFree(
  exchange: Exchange,
  { isProxied, serveIt }: { isProxied: boolean; serveIt: () => void },
): void {
  const { response, budget } = exchange;
  if (budget.countFree()) {
    serveIt();
    return;
  }
  const held = budget.holdBack();
  if (held === undefined) {
    refuseRequest(exchange, { isProxied, seconds: 1, why: "asks too often" });
    return;
  }
  const timer = setTimeout(serveIt, held.ms);
  response.once("close", () => {
    clearTimeout(timer);
    held.release();
  });
}

/** Charges for an accepted request, and lets it run at its turn. */
function admit(
  exchange: Exchange,
  { price, isProxied, serveIt }: { price: number; isProxied: boolean; serveIt: () => void },
): void {
  const { request, response, budget } = exchange;
  budget.charge(price);
  const before = request.socket.bytesWritten;
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
  let statements = 0;
  const payForStatements = () => {
    if (++statements > FREE_STATEMENTS) budget.charge(STATEMENT_POINTS);
  };
  let hasWaited = false;
  const begin = () => {
    // While this request waited, the client's earlier requests may have used up the budget.
    if (!hasWaited || budget.owed <= price) return inTurnsOf(budget.statements, serveIt, payForStatements);
    endsNow();
    const seconds = Math.max(1, budget.secondsToWait);
    if (!response.destroyed) refuseRequest(exchange, { isProxied, seconds, why: USED_UP });
  };
  // `begin` may run after this call has ended. The binding keeps it in the context of this client.
  const giveBack = budget.takeTurn(AsyncLocalStorage.bind(begin));
  hasWaited = true;
  if (giveBack === undefined) {
    refuseRequest(exchange, { isProxied, seconds: 1, why: "asks too much at once" });
    return;
  }
  // The next request of this client starts in a later turn of the event loop. Otherwise a client's requests
  // that end without waiting would run one after another, and all other clients would wait.
  const end = () => void setImmediate(giveBack);
  endTurn = end;
  if (endsAtOnce) end();
  response.once("close", () => {
    end();
    budget.charge(Math.max(0, request.socket.bytesWritten - before) / BYTES_PER_POINT);
  });
}

/**
 * Counts a request on its connection until it is answered, and charges for its body, whether it is served or
 * refused. The rest of a large body is not read.
 */
function watchReading({ request, response, budget, pipeline }: Exchange): void {
  const { socket } = request;
  const readBefore = socket.bytesRead;
  const announced = announcedBytes(request);
  pipeline.waiting++;
  response.once("close", () => {
    pipeline.waiting--;
    // A connection may carry requests of several clients, so its bytes count only if the length of the request is
    // unknown.
    const bytes = announced ?? socket.bytesRead - readBefore;
    budget.charge(Math.max(0, Math.min(bytes, MAX_REST_BYTES) / BYTES_IN_PER_POINT - 1));
  });
  if (announced !== undefined && announced <= MAX_REST_BYTES) return;
  if (announced !== undefined) response.setHeader("connection", "close");
  response.once("finish", () => {
    if (!request.complete) socket.destroySoon();
  });
}

/** The budget of a client that asks for an upgrade. Such a request does not reach the `request` listener. */
export function budgetOfUpgrade(request: IncomingMessage, limits: ClientLimits): ClientBudget {
  return limits.budgets.of(clientOf(askerOf(request), limits.trustedProxies));
}
