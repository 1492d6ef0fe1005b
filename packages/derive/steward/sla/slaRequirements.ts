import type { Row } from "../../tables.ts";
import { STEWARD_TIERS, type StewardTier } from "../stewardTier.ts";
import { isLatency } from "./terms.ts";

/** What T027 asks of the SLA of an agent of a tier: to promise no less (of latencies, no more) than so much, in units of 10⁻⁹. */
const PROMISES: { readonly [tier in Exclude<StewardTier, "UNVERIFIED">]: { [metric: string]: bigint } } = {
  VERIFIED: { uptime: 900_000_000n, success_rate: 800_000_000n },
  TRUSTED: { uptime: 950_000_000n, success_rate: 900_000_000n },
  HIGHLY_TRUSTED: {
    uptime: 990_000_000n,
    success_rate: 950_000_000n,
    latency_p99: 5_000n * 1_000_000_000n,
  },
};

/** One requirement: what is asked, what is promised at best (null: nothing), both in units of 10⁻⁹; and whether that is enough. */
export type SlaRequirement = {
  tier: StewardTier;
  metric: string;
  bound: bigint;
  promised: bigint | null;
  isMet: boolean;
};

/**
 * What the draft asks of SLAs, tier by tier (T027). It is shown; it never changes a tier. Of several guarantees of a metric the best target
 * counts, whatever its window; one that was dropped and still binds does not.
 *
 * @param guarantees those of the agent that bind
 */
export function slaRequirements(
  guarantees: readonly Pick<Row<"guarantee">, "metric" | "target" | "boundUntil">[],
): SlaRequirement[] {
  return STEWARD_TIERS.flatMap(({ name }) => {
    if (name === "UNVERIFIED") return [];
    return Object.entries(PROMISES[name]).map(([metric, bound]): SlaRequirement => {
      const sign = isLatency({ metric }) ? -1n : 1n;
      const targets = guarantees.filter((it) => it.metric === metric && it.boundUntil === null);
      let promised: bigint | null = null;
      for (const { target } of targets) {
        if (promised === null || sign * target > sign * promised) promised = target;
      }
      return {
        tier: name,
        metric,
        bound,
        promised,
        isMet: promised !== null && sign * promised >= sign * bound,
      };
    });
  });
}

/** The highest tier whose own and lower requirements of SLAs are all met: what the agent's promises would be good for. */
export function slaTierOf(requirements: readonly SlaRequirement[]): StewardTier {
  let reached: StewardTier = "UNVERIFIED";
  for (const { name } of STEWARD_TIERS) {
    const own = requirements.filter(({ tier }) => tier === name);
    if (own.some(({ isMet }) => !isMet)) break;
    reached = name;
  }
  return reached;
}
