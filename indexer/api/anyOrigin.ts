import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { AS_OF_HEADER } from "./asOf.ts";
import { LINES_HEADER } from "./log/routes.ts";

/** Headers that pages of other origins may read. */
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

/** Lets pages of every origin read every route. No answer depends on cookies, so this is safe. */
export function anyOrigin(): MiddlewareHandler {
  return cors({ origin: "*", exposeHeaders: EXPOSED_HEADERS, maxAge: 86_400 });
}
