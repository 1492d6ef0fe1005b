import { formatUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import { MICRO, type Tally } from "../../src/insights.ts";
import type { Database } from "../database.ts";
import { agentOf } from "../rest/agents.ts";

/**
 * A tally in its published form. Rates and averages are not dampened, and are null if there is nothing to
 * divide by.
 */
export type TallyFigures = {
  hires: number;
  /** The number of hires, by weight, with six decimals. Inside a cluster a hire weighs 1/size. */
  weighted_hires: number;
  successes: number;
  failures: number;
  success_rate: number | null;
  refunds: number;
  disputes: number;
  volume_usdc: string;
  avg_latency_ms: number | null;
};

export function figuresOf(tally: Tally): TallyFigures {
  const { hires, weight, successes, failures, refunds, disputes, volume, latencies, latencySum } = tally;
  return {
    hires,
    weighted_hires: weight / MICRO,
    successes,
    failures,
    success_rate: share(successes, successes + failures),
    refunds,
    disputes,
    volume_usdc: formatUsdc(volume),
    avg_latency_ms:
      latencies === 0 ? null : Number((latencySum * 2n + BigInt(latencies)) / (2n * BigInt(latencies))),
  };
}

/** `part` divided by `whole`, rounded to nine decimals like every published rate; null if `whole` is 0. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1e9) / 1e9;
}

/**
 * Refuses an agent with private metrics, because insights are finer than its buckets.
 *
 * @throws TallystickError `unknown_agent`, `private_metrics`
 */
export async function checkMetricsArePublic(db: Database, address: string): Promise<void> {
  if ((await agentOf(db, address)).privateListings === 0) return;
  throw new TallystickError({
    code: "private_metrics",
    message: `${address} publishes coarse metrics only (private_metrics).`,
    hint: "Its buckets are at /v1/agents/{id}/reputation.",
  });
}
