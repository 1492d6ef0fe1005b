import { formatUsdc } from "tallystick-protocol/amount";
import type { Database } from "../database.ts";
import { latestHires, type SampledHire } from "../rows/hires.ts";
import { checkMetricsArePublic, share } from "./figures.ts";

type Spread<T> = { p50: T; p95: T; p99: T };

/** The figures for buyers of one trust tier. The tiers are the present tiers of the buyers. */
export type TierFigures = {
  buyer_trust_tier: number;
  hires: number;
  success_rate: number | null;
  latency_ms: Spread<number> | null;
  price_usdc: Spread<string>;
};

export type Percentiles = {
  /** The number of latest hires in the sample. */
  sample: number;
  /** Whether the sample has all hires of the window. */
  complete: boolean;
  by_buyer_trust_tier: TierFigures[];
};

/** The most hires of the sample: enough for a 99th percentile, and few enough for one read. */
export const SAMPLE = 1_000;

/**
 * Percentiles (nearest rank) of an agent's latest hires in the window, by the trust tier of the buyer.
 *
 * @throws TallystickError `unknown_agent`, `private_metrics`
 */
export async function agentPercentiles(db: Database, address: string): Promise<Percentiles> {
  await checkMetricsArePublic(db, address);
  return percentilesOf(await latestHires(db, { seller: address }, SAMPLE + 1));
}

/** Percentiles of the latest hires in the window for a capability, by the trust tier of the buyer. */
export async function capabilityPercentiles(db: Database, capability: string): Promise<Percentiles> {
  return percentilesOf(await latestHires(db, { capability }, SAMPLE + 1));
}

function percentilesOf(found: SampledHire[]): Percentiles {
  const sample = found.slice(0, SAMPLE);
  const tiers = Map.groupBy(sample, ({ tier }) => tier ?? 0);
  return {
    sample: sample.length,
    complete: found.length <= SAMPLE,
    by_buyer_trust_tier: [...tiers]
      .sort(([a], [b]) => a - b)
      .map(([tier, hires]) => {
        const successes = hires.filter(({ outcome }) => outcome === "success").length;
        const failures = hires.filter(({ outcome }) => outcome === "failure").length;
        const latencies = hires.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
        const prices = hires.map(({ price }) => price);
        return {
          buyer_trust_tier: tier,
          hires: hires.length,
          success_rate: share(successes, successes + failures),
          latency_ms: latencies.length === 0 ? null : spread(latencies, (it) => it),
          price_usdc: spread(prices, formatUsdc),
        };
      }),
  };
}

function spread<Value extends number | bigint, Shown>(
  values: Value[],
  format: (value: Value) => Shown,
): Spread<Shown> {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const at = (percent: number) => format(sorted[Math.ceil((sorted.length * percent) / 100) - 1] as Value);
  return { p50: at(50), p95: at(95), p99: at(99) };
}
