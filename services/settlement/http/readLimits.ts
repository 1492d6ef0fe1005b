import type { IncomingMessage } from "node:http";
import { isPublicAddress } from "tallystick-protocol/net/publicAddress";
import { ClientBudgets, pointsAMinute } from "tallystick-runtime/http/clientBudgets";
import type { ClientLimits } from "tallystick-runtime/http/limitClients";
import type { RateLimitConfig } from "./rateLimits.ts";

/** The most reads of one client that run at the same time, and the most that may wait. Some wait for a checkpoint. */
const AT_ONCE = 8;
const WAITING = 256;

/** The points of a request for the metrics of the whole process. */
const METRICS_POINTS = 20;

/**
 * The limits of each client's reads, as an indexer has them: a read costs one point, and more for the size of its answer.
 * Writes have other limits (`rateLimits`): for each key, and for each address without a known key.
 */
export function readLimits({
  reads,
  trustedProxies,
}: Pick<RateLimitConfig, "reads" | "trustedProxies">): ClientLimits {
  const limits = { ...pointsAMinute(reads), atOnce: reads === 0 ? 0 : AT_ONCE, waiting: WAITING, streams: 0 };
  return {
    budgets: new ClientBudgets(limits, () => performance.now() / 1_000),
    trustedProxies,
    priceOf: (path, request) => {
      // Every write is a POST. Any other method reads, or is refused, which costs work too.
      if (request.method === "POST" || isOwn(request)) return undefined;
      if (path === "/health") return 0;
      return path === "/metrics" ? METRICS_POINTS : 1;
    },
  };
}

/**
 * Whether a request comes directly, without a proxy, from the operator's own network. Examples: an indexer, a mirror, a
 * monitor.
 */
function isOwn({ headers, socket }: IncomingMessage): boolean {
  // A server that listens on IPv6 gives IPv4 addresses in this form.
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/i, "");
  return headers["x-forwarded-for"] === undefined && !isPublicAddress(address);
}
