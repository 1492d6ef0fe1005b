import { ClientBudgets, pointsAMinute } from "./clientBudgets.ts";
import type { ClientLimits } from "./limitClients.ts";

/** How many requests of one address may run at the same time by default, and how many may wait. */
const AT_ONCE = 2;
const WAITING = 16;

export type LimitsPerAddressParameters = {
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  trustedProxies: number;
  /** Requests of one address that run at the same time; 0 for no limit. Default 2. */
  atOnce?: number;
  /** Requests of one address that wait for their turn. Default 16. */
  waiting?: number;
  /** As in {@link ClientLimits}. */
  priceOf?: ClientLimits["priceOf"];
  /** Seconds of any clock. Default: a clock that never goes back. */
  now?: () => number;
};

/** Limits by which every address has the same number of requests in a minute. */
export function limitsPerAddress({
  requestsPerAddress,
  trustedProxies,
  atOnce = AT_ONCE,
  waiting = WAITING,
  priceOf,
  now = () => performance.now() / 1_000,
}: LimitsPerAddressParameters): ClientLimits {
  const limits = { ...pointsAMinute(requestsPerAddress), atOnce, waiting, streams: 0 };
  return { budgets: new ClientBudgets(limits, now), trustedProxies, ...(priceOf && { priceOf }) };
}
