import { agentRow, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { compare, multiply, parseRational, rational } from "./rational.ts";
import type { Row } from "./tables.ts";

/**
 * Puts an agent into the tier that follows from its own hires, and stores a row for every change (SHP §4.3).
 * To rise to Tier 2, an agent needs enough hires, a high rate, and enough capabilities and buyers. To stay
 * there, it needs the rate only. All comparisons are exact.
 */
export function settleTier(context: ApplyContext, address: string): void {
  const agent = agentRow(context, address);
  const [to, reason] = tierOf(context, agent);
  if (to === agent.trustTier) return;
  const change = {
    id: `${address}/${agent.tierChanges}`,
    agent: address,
    from: agent.trustTier,
    to,
    reason,
    ...context.at,
  };
  if (to === 2 || agent.trustTier === 2) context.tiered.set(address, to === 2);
  context.store.insert("tierChange", change);
  updateAgent(context, address, { trustTier: to, tierChanges: agent.tierChanges + 1 });
}

function tierOf(context: ApplyContext, agent: Row<"agent">): [tier: number, reason: string] {
  const { params } = context;
  const rated = parseRational(agent.ratedWeight);
  const successes = parseRational(agent.successWeight);
  const { numerator, denominator } = params.tier2MinSuccessRate;
  const needed = multiply(rated, rational(BigInt(numerator), BigInt(denominator)));
  const rateHolds = compare(successes, needed) >= 0;

  // Without Tier 2, a verified human claim gives Tier 1.
  const verified = agent.claimStatus === "verified";
  const below = verified ? 1 : 0;
  const barred = params.tier2RequiresClaim && !verified;

  if (agent.trustTier === 2) {
    if (rateHolds && !barred) return [2, ""];
    return [
      below,
      rateHolds ? "the human claim was taken back" : `success_rate fell below ${numerator}/${denominator}`,
    ];
  }
  const promoted =
    rateHolds &&
    !barred &&
    compare(successes, rational(BigInt(params.tier2MinSuccesses))) >= 0 &&
    agent.capabilities >= params.tier2MinCapabilities &&
    agent.distinctBuyers >= params.tier2MinBuyers;
  if (!promoted) return [below, verified ? "the human claim was verified" : "the human claim was taken back"];
  return [
    2,
    `${params.tier2MinSuccesses} successes at ${numerator}/${denominator} over ${params.tier2MinCapabilities} capabilities`,
  ];
}
