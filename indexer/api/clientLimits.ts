import { ClientBudgets, pointsAMinute } from "tallystick-runtime/http/clientBudgets";
import type { ClientLimits } from "tallystick-runtime/http/limitClients";

/** Requests of one client that are worked on at one time, and that may wait for their turn. */
const AT_ONCE = 2;
const WAITING = 256;

/** Statements of one client that the database works on at one time, of the ten that a process has connections for. */
const STATEMENTS = 3;

/**
 * Routes that do not cost one point before their answer is known: the health of the process, for its supervisor; figures of
 * the whole process; searches; pages that are made anew; and the log, whose lines cost more.
 */
const PRICES: [path: RegExp, points: number][] = [
  [/^\/(?:health|ready)$/, 0],
  [/^\/metrics$/, 20],
  [/^\/docs\//, 5],
  [/^\/openapi\.json$/, 5],
  [/^\/v1\/(?:(?:search|events|digests)$|insights\/)/, 2],
  [/^\/v1\/clusters\/[^/]+\/graph$/, 20],
];

/** What each client may ask of this process, which serves its own API even if others run next to it. */
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
