import { ClientBudgets, pointsAMinute } from "tallystick-runtime/http/clientBudgets";
import type { ClientLimits } from "tallystick-runtime/http/limitClients";

/** The most requests of one client that run at the same time, and the most that may wait. */
const AT_ONCE = 2;
const WAITING = 256;

/** The most statements of one client that the database runs at the same time. A process has ten connections. */
const STATEMENTS = 3;

/**
 * Routes whose first price is not one point. Supervisors ask for the health of the process, so it is free. Metrics,
 * searches, pages that are made for each request, and percentiles cost more work. So does the log, whose lines have a
 * price of their own.
 */
const PRICES: [path: RegExp, points: number][] = [
  [/^\/(?:health|ready)$/, 0],
  [/^\/metrics$/, 20],
  [/^\/docs\//, 5],
  [/^\/openapi\.json$/, 5],
  [/^\/v1\/insights\/.*\/percentiles$/, 5],
  [/^\/v1\/(?:(?:search|events|digests)$|insights\/)/, 2],
  [/^\/v1\/clusters\/[^/]+\/graph$/, 20],
];

/** The limits of each client at this process. Other processes next to it have their own limits. */
export function clientLimits({
  trustedProxies,
  clientLimits: { points, streams },
}: {
  trustedProxies: number;
  clientLimits: { points: number; streams: number };
}): ClientLimits {
  return {
    budgets: new ClientBudgets(
      {
        ...pointsAMinute(points),
        atOnce: points === 0 ? 0 : AT_ONCE,
        waiting: WAITING,
        streams,
        ...(points > 0 && { statements: STATEMENTS }),
      },
      () => performance.now() / 1000,
    ),
    trustedProxies,
    priceOf: (path) => PRICES.find(([pattern]) => pattern.test(path))?.[1] ?? 1,
  };
}
