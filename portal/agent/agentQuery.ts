import { META, type Meta } from "../node/nodeState.ts";
import { FIGURES } from "./figures.ts";
import { AGENT_IDENTITIES, type AgentIdentities } from "./identityQuery.ts";
import { AGENT_TRUST, type AgentTrust } from "./trustQuery.ts";

/** The node's explanation of a figure. */
export type Explained = {
  value: number | string | null;
  numerator: string | null;
  denominator: string | null;
  formula: string;
  source: string[];
  cadence: string;
};

export type AgentListing = {
  id: string;
  capability: string;
  priceUsdc: string;
  paymentMode: string;
  maxLatencyMs: number;
  endpoint: string;
  firstCallFree: boolean;
  auditFrom: number | null;
};

export type AgentHire = {
  id: string;
  time: number;
  capability: string | null;
  priceUsdc: string;
  outcome: string;
  evidence: string;
  weight: number;
  latencyMs: number | null;
  buyerAddress: string;
};

export type AgentRating = {
  id: string;
  stars: number;
  side: string;
  rater: string;
  weight: number;
  time: number;
};
export type AgentTierChange = { id: string; from: number; to: number; reason: string; time: number };

export type Agent = {
  address: string;
  trustTier: number;
  claimStatus: string;
  clusterId: string | null;
  clusterSize: number;
  signalsTripped: string[];
  privateMetrics: boolean;
  registeredTime: number;
  registeredBlock: number;
  avgCostPerCapability: { capability: string; medianUsdc: string }[];
  listings: { nodes: AgentListing[] };
  identities: AgentIdentities;
  hires: { totalCount: number; nodes: AgentHire[] };
  ratings: { nodes: AgentRating[] };
  tierChanges: { nodes: AgentTierChange[] };
  cluster: { id: string; kind: string; members: { nodes: { address: string }[] } } | null;
  /** Null for an agent with private metrics, and where the node sells insights. */
  series: DaySeries | null;
} & AgentTrust & { [alias: `f${number}`]: Explained };

export type Tier2Params = {
  version: number;
  windowSeconds: number;
  tier2MinSuccesses: number;
  tier2MinSuccessRate: { numerator: number; denominator: number };
  tier2MinCapabilities: number;
  tier2MinBuyers: number;
  tier2RequiresClaim: boolean;
};

export type DaySeries = {
  from: string;
  to: string;
  days: {
    day: string;
    figures: { hires: number; successes: number; failures: number; volumeUsdc: string };
  }[];
};

/** The answer to {@link AGENT}. */
export type AgentAnswer = {
  meta: Meta;
  params: Tier2Params | null;
  agent: Agent | null;
};

const explained = FIGURES.map(({ field }, n) => `f${n}: explain(field: ${field}) { ...Why }`).join("\n    ");

export const AGENT = `query Agent($address: Address!) {
  ${META}
  params {
    version windowSeconds tier2MinSuccesses tier2MinCapabilities tier2MinBuyers tier2RequiresClaim
    tier2MinSuccessRate { numerator denominator }
  }
  agent(address: $address) {
    address trustTier claimStatus clusterId clusterSize signalsTripped privateMetrics registeredTime registeredBlock
    avgCostPerCapability { capability medianUsdc }
    listings(first: 50) {
      nodes { id capability priceUsdc paymentMode maxLatencyMs endpoint firstCallFree auditFrom }
    }
    hires(first: 25) {
      totalCount
      nodes { id time capability priceUsdc outcome evidence weight latencyMs buyerAddress }
    }
    ratings(first: 10) { nodes { id stars side rater weight time } }
    tierChanges(first: 10) { nodes { id from to reason time } }
    cluster { id kind members(first: 24) { nodes { address } } }
    series(days: 30) { from to days { day figures { hires successes failures volumeUsdc } } }
    ${AGENT_TRUST}
    ${AGENT_IDENTITIES}
    ${explained}
  }
}
fragment Why on Explanation { value numerator denominator formula source cadence }`;

/** One figure of an agent. */
export function explainedOf(agent: Agent, field: string): Explained {
  const n = FIGURES.findIndex((it) => it.field === field);
  return agent[`f${n}`] as Explained;
}
