import type { Row } from "../../tables.ts";
import { STEWARD_TIERS, type StewardTier } from "../stewardTier.ts";
import { isLatency } from "./terms.ts";

/**
 * The promises that T027 requires for each tier, in units of 10⁻⁹: the lowest value, or for a latency the
 * highest.
 */
const PROMISES: { readonly [tier in Exclude<StewardTier, "UNVERIFIED">]: { [metric: string]: bigint } } = {
  VERIFIED: { uptime: 900_000_000n, success_rate: 800_000_000n },
  TRUSTED: { uptime: 950_000_000n, success_rate: 900_000_000n },
  HIGHLY_TRUSTED: {
    uptime: 990_000_000n,
    success_rate: 950_000_000n,
    latency_p99: 5_000n * 1_000_000_000n,
  },
};

/**
 * One requirement: the bound and the best promise (null: none), both in units of 10⁻⁹, and whether the
 * promise is enough.
 */
export type SlaRequirement = {
  tier: StewardTier;
  metric: string;
  bound: bigint;
  promised: bigint | null;
  isMet: boolean;
};

/**
 * Compares an agent's promises with the draft's requirements for each tier (T027). The result is only shown
 * and never changes a tier. For each metric the best target counts, whatever its window. A dropped guarantee
 * that still binds does not count.
 *
 * @param guarantees the agent's binding guarantees
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

/** The highest tier for which the promises meet its own requirements and those of all lower tiers. */
export function slaTierOf(requirements: readonly SlaRequirement[]): StewardTier {
  let reached: StewardTier = "UNVERIFIED";
  for (const { name } of STEWARD_TIERS) {
    const own = requirements.filter(({ tier }) => tier === name);
    if (own.some(({ isMet }) => !isMet)) break;
    reached = name;
  }
  return reached;
}
