import type { Params } from "tallystick-protocol/records/params";
import { agentRow, changeAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { flat } from "./flat.ts";
import { compare, parseRational, rational } from "./rational.ts";
import type { Row } from "./tables.ts";

/**
 * Puts an agent into the tier that follows from its own hires, and stores a row for every change (SHP §4.3).
 * To rise to Tier 2, an agent needs enough hires, a high rate, and enough capabilities and buyers. To stay
 * there, it needs the rate only. All comparisons are exact. Nothing happens if the event did not change the figures of
 * the tier. Otherwise a listing, of the agent or of a stranger, could decide when new parameters apply to it.
 */
export function settleTier(context: ApplyContext, address: string): void {
  const agent = agentRow(context, address);
  const tierFigures = figuresOf(agent);
  if (tierFigures === agent.tierFigures) return;
  const isOpen = mayChange(agent);
  changeAgent(context, address, { tierFigures });
  if (!isOpen) return;
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

/** The figures that decide a tier, as they are after an event. */
function figuresOf(agent: Row<"agent">): string {
  const { successWeight, ratedWeight, capabilities, distinctBuyers } = agent;
  return flat(`${successWeight} ${ratedWeight} ${isVerified(agent)} ${capabilities} ${distinctBuyers}`);
}

/**
 * Whether the changed figures may change the tier. Fewer capabilities or buyers alone may not: a stranger can make
 * several buyers count as one.
 */
function mayChange(agent: Row<"agent">): boolean {
  if (agent.tierFigures === null) return true;
  const [successes, rated, verified, capabilities, buyers] = agent.tierFigures.split(" ");
  return (
    successes !== agent.successWeight ||
    rated !== agent.ratedWeight ||
    verified !== String(isVerified(agent)) ||
    Number(capabilities) < agent.capabilities ||
    Number(buyers) < agent.distinctBuyers
  );
}

function isVerified({ claimStatus }: Row<"agent">): boolean {
  return claimStatus === "verified";
}

function tierOf(context: ApplyContext, agent: Row<"agent">): [tier: number, reason: string] {
  const { params } = context;
  const { numerator, denominator } = params.tier2MinSuccessRate;

  // Without Tier 2, a verified human claim gives Tier 1.
  const verified = isVerified(agent);
  const below = verified ? 1 : 0;
  const barred = params.tier2RequiresClaim && !verified;

  if (agent.trustTier === 2) {
    const holds = rateHolds(agent, params.tier2MinSuccessRate);
    if (holds && !barred) return [2, ""];
    return [
      below,
      holds ? "the human claim was taken back" : `success_rate fell below ${numerator}/${denominator}`,
    ];
  }
  // Most agents lack capabilities or buyers, so these are compared first.
  const promoted =
    agent.capabilities >= params.tier2MinCapabilities &&
    agent.distinctBuyers >= params.tier2MinBuyers &&
    !barred &&
    compare(parseRational(agent.successWeight), rational(BigInt(params.tier2MinSuccesses))) >= 0 &&
    rateHolds(agent, params.tier2MinSuccessRate);
  if (!promoted) return [below, verified ? "the human claim was verified" : "the human claim was taken back"];
  return [
    2,
    `${params.tier2MinSuccesses} successes at ${numerator}/${denominator} over ${params.tier2MinCapabilities} capabilities`,
  ];
}

/** Whether successes / rated ≥ the rate, without a division: nothing has to be brought into lowest terms. */
function rateHolds(
  { ratedWeight, successWeight }: Row<"agent">,
  { numerator, denominator }: Params["tier2MinSuccessRate"],
): boolean {
  const [rated, successes] = [parseRational(ratedWeight), parseRational(successWeight)];
  return successes.n * rated.d * BigInt(denominator) >= rated.n * successes.d * BigInt(numerator);
}
