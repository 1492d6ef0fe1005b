import { formatNumber, formatRate } from "../design/format.ts";
import { type Agent, explainedOf, type Tier2Params } from "./agentQuery.ts";
import { approximately, type ExactNumber, exactNumber, isAtLeast, quotient } from "./exactNumber.ts";

/** One condition of Tier 2: what it requires, what the agent has, and the progress from 0 to 1. */
export type Gate = { name: string; has: string; asks: string; isReached: boolean; share: number };

/**
 * The conditions of Tier 2 as a checklist with numbers (SHP §4.3). They are compared exactly, as in the
 * derivation.
 *
 * @returns null for an agent with private metrics, because its numbers are hidden
 */
export function gatesOf(agent: Agent, params: Tier2Params): Gate[] | null {
  const rate = explainedOf(agent, "SUCCESS_RATE");
  const [successes, rated] = [exactNumber(rate.numerator), exactNumber(rate.denominator)];
  if (agent.privateMetrics || successes === null || rated === null) return null;
  const { tier2MinSuccessRate, tier2MinSuccesses, tier2MinCapabilities, tier2MinBuyers } = params;
  const least: ExactNumber = {
    numerator: BigInt(tier2MinSuccessRate.numerator),
    denominator: BigInt(tier2MinSuccessRate.denominator),
  };
  const successRate = quotient(successes, rated);
  const buyers = explainedOf(agent, "DISTINCT_BUYERS").value;
  const gates: Gate[] = [
    countGate("Successful hires, weighted", successes, tier2MinSuccesses),
    {
      name: "Success rate",
      has: successRate === null ? "no hires" : formatRate(approximately(successRate)),
      asks: formatRate(approximately(least)),
      isReached: successRate !== null && isAtLeast(successRate, least),
      share: successRate === null ? 0 : shareOf(successRate, least),
    },
    countGate("Different capabilities", whole(agent.avgCostPerCapability.length), tier2MinCapabilities),
    countGate("Different buyers", whole(typeof buyers === "number" ? buyers : 0), tier2MinBuyers),
  ];
  if (params.tier2RequiresClaim) {
    const isReached = agent.claimStatus === "verified";
    gates.push({
      name: "Verified claim",
      has: agent.claimStatus,
      asks: "verified",
      isReached,
      share: isReached ? 1 : 0,
    });
  }
  return gates;
}

const whole = (count: number): ExactNumber => ({ numerator: BigInt(Math.trunc(count)), denominator: 1n });

function countGate(name: string, has: ExactNumber, asks: number): Gate {
  const least = whole(asks);
  return {
    name,
    has: formatNumber(approximately(has)),
    asks: formatNumber(asks),
    isReached: isAtLeast(has, least),
    share: shareOf(has, least),
  };
}

function shareOf(has: ExactNumber, least: ExactNumber): number {
  if (least.numerator === 0n) return 1;
  const share = quotient(has, least);
  return share === null ? 1 : Math.min(1, Math.max(0, approximately(share)));
}
