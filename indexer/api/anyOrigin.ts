import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { AS_OF_HEADER } from "./asOf.ts";
import { LINES_HEADER } from "./log/routes.ts";

/** What pages of other origins may see of an answer besides its body. */
export const EXPOSED_HEADERS = [
  "etag",
  "retry-after",
  AS_OF_HEADER,
  LINES_HEADER,
  "payment-required",
  "payment-response",
  "ratelimit",
  "ratelimit-policy",
  "x-ledger-size",
  "x-parent-hash",
  "x-rules-version",
];

/** A page may stand anywhere: every origin reads every route, and nothing here is told to a browser by its cookies. */
export function anyOrigin(): MiddlewareHandler {
  return cors({ origin: "*", exposeHeaders: EXPOSED_HEADERS, maxAge: 86_400 });
}
