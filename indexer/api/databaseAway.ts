import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import { PROBLEM_MEDIA_TYPE, problem as problemBody } from "tallystick-protocol/problem";
import { pathOf } from "tallystick-runtime/http/pathOf";
import type { DatabaseWatch } from "../databaseWatch.ts";
import { COME_AGAIN, problem } from "./problem.ts";

const DETAIL =
  "The database of this node does not answer; the node keeps trying to reach it. Try again later, or ask another node.";

/** The answer of a route that needs the database while the database is away. */
export function databaseAway(): Response {
  return problem(503, "database_unavailable", DETAIL);
}

/** The answer of GraphQL while the database is away. */
function databaseAwayOfGraphql(): Response {
  const body = { errors: [{ message: DETAIL, extensions: { code: "DATABASE_UNAVAILABLE" } }] };
  return Response.json(body, { status: 503, headers: { "retry-after": String(COME_AGAIN) } });
}

/** For each request that waits for the database: starts its payment. Returns false if the request was refused. */
const payments = new WeakMap<Context, () => boolean>();

/**
 * Answers 503 at once while the database is away, and also when it goes away during a request. It does not interrupt a
 * payment ({@link beforePayment}).
 */
export function refuseWhileAway(
  watch: Pick<DatabaseWatch, "isAway" | "goesAwayDuring"> | undefined,
): MiddlewareHandler {
  return async (context, next) => {
    const { req } = context;
    const refusal = () => (req.path === "/graphql" ? databaseAwayOfGraphql() : databaseAway());
    if (watch === undefined) return next();
    if (watch.isAway) return refusal();
    const paying = Promise.withResolvers<void>();
    let isPaying = false;
    let isRefused = false;
    payments.set(context, () => {
      isPaying = !isRefused;
      paying.resolve();
      return isPaying;
    });
    const served = next();
    // If somebody still waits for `served`, its error is reported there. Otherwise it is ignored.
    served.catch(() => {});
    const isAway = await watch.goesAwayDuring(Promise.race([served, paying.promise]));
    if (isAway && !isPaying) {
      isRefused = true;
      return refusal();
    }
    await served;
    return undefined;
  };
}

/**
 * Comes directly before a paywall. A client that gets 503 while its payment settles would pay again. So from here on
 * the first {@link refuseWhileAway} waits for the payment. A second {@link refuseWhileAway}, behind the paywall,
 * refuses what the database cannot answer. The paywall settles no payment for a refusal.
 */
export function beforePayment(): MiddlewareHandler {
  return async (context, next) => (payments.get(context)?.() === false ? databaseAway() : next());
}

/**
 * Answers `/health`, and `/ready` and `/status` from the last known state. Ponder's own routes for these two
 * ask the database, and retry for minutes if it does not answer. Call this after the server has its listener.
 */
export function answerProbes(
  server: Server,
  watch: Pick<DatabaseWatch, "isAway" | "isReady" | "status">,
): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = pathOf(request.url ?? "");
    const isProbe = path === "/health" || path === "/ready" || path === "/status";
    if (!isProbe || (request.method !== "GET" && request.method !== "HEAD")) {
      for (const listener of listeners) listener.call(server, request, response);
      return;
    }
    const answer = (status: number, type: string, body: string, retryAfter?: number) => {
      response.writeHead(status, {
        "content-type": type,
        "content-length": Buffer.byteLength(body),
        "access-control-allow-origin": "*",
        ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    // A health check has no price, so it must cost next to nothing.
    if (path === "/health") answer(200, "text/plain; charset=UTF-8", "");
    else if (watch.isAway) {
      const body = JSON.stringify(problemBody(503, "database_unavailable", DETAIL));
      answer(503, PROBLEM_MEDIA_TYPE, body, COME_AGAIN);
    } else if (path === "/status") answer(200, "application/json", JSON.stringify(watch.status));
    else if (watch.isReady) answer(200, "text/plain; charset=UTF-8", "");
    else answer(503, "text/plain; charset=UTF-8", "Historical indexing is not complete.", COME_AGAIN);
  });
}
