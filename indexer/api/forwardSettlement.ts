import type { Context } from "hono";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { admittedOf } from "tallystick-runtime/http/limitClients";
import type { Connection } from "./graphql/context.ts";
import { problem } from "./problem.ts";
import { settlementRoutes } from "./settlementRoutes.ts";

/**
 * Settlement itself refuses bodies over 64 KiB. This limit only keeps this process from reading much larger
 * bodies.
 */
const MAX_BODY = 256 * 1024;
const TIMEOUT_MS = 30_000;

/** Headers of a request that settlement uses, and headers of its answer that the client uses. */
const REQUEST_HEADERS = ["accept", "authorization", "content-type", "if-none-match", "idempotency-key"];
const RESPONSE_HEADERS = [
  "cache-control",
  "content-disposition",
  "content-type",
  "etag",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "www-authenticate",
  "x-content-type-options",
  "x-ledger-size",
  "x-parent-hash",
  "x-rules-version",
];

/**
 * Forwards the settlement routes, so that a user needs one base URL.
 *
 * @param settlementUrl without a trailing slash; null: the routes answer 503
 */
export function forwardSettlement(settlementUrl: string | null): Hono {
  const app = new Hono();
  const limit = bodyLimit({
    maxSize: MAX_BODY,
    onError: () => problem(413, "payload_too_large", `The body is larger than ${MAX_BODY / 1024} KiB.`),
  });
  for (const { method, path, pattern = path.replaceAll(/\{(\w+)\}/g, ":$1") } of settlementRoutes)
    app.on(method.toUpperCase(), pattern, limit, (context) => forward(context, settlementUrl));
  return app;
}

async function forward({ req, env }: Context, settlementUrl: string | null): Promise<Response> {
  if (settlementUrl === null) {
    return problem(
      503,
      "settlement_not_configured",
      "This node forwards to no settlement service (SETTLEMENT_URL).",
    );
  }
  // Settlement limits its clients itself. This process only waits for it, so the turn ends here.
  admittedOf((env as Connection | undefined)?.incoming)?.endTurn();
  const { pathname, search } = new URL(req.url);
  const body = req.method === "GET" || req.method === "HEAD" ? null : await req.arrayBuffer();
  const headers = pick(req.raw.headers, REQUEST_HEADERS);
  headers.set("x-forwarded-for", forwardedFor(req.header("x-forwarded-for"), env));
  try {
    const response = await fetch(`${settlementUrl}${pathname}${search}`, {
      method: req.method,
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.any([req.raw.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return new Response(response.body, {
      status: response.status,
      headers: pick(response.headers, RESPONSE_HEADERS),
    });
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return problem(
        504,
        "settlement_timeout",
        `The settlement service took more than ${TIMEOUT_MS / 1000} s.`,
      );
    }
    return problem(502, "settlement_unreachable", "The settlement service does not answer; try again later.");
  }
}

/**
 * Adds the client's address after the earlier addresses. Settlement trusts only the last address, and only if its operator
 * says how many proxies are in front of it.
 */
function forwardedFor(before: string | undefined, env: unknown): string {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  const peer = incoming?.socket?.remoteAddress ?? "unknown";
  return before === undefined ? peer : `${before}, ${peer}`;
}

function pick(headers: Headers, names: string[]): Headers {
  const picked = new Headers();
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) picked.set(name, value);
  }
  return picked;
}
