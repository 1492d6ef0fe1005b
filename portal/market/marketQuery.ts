import type { DaySeries } from "../agent/agentQuery.ts";
import { META, type Meta } from "../node/nodeState.ts";

/** The fields of an agent on the market's page. */
export type MarketAgent = {
  address: string;
  trustTier: number;
  successRate: number | null;
  last30dHireCount: number;
  last24hVolumeUsdc: string;
  avgStars: number | null;
  clusterSize: number;
  listings: { nodes: { capability: string; priceUsdc: string }[] };
};

export type MarketHire = {
  id: string;
  time: number;
  capability: string | null;
  priceUsdc: string;
  outcome: string;
  sellerAddress: string;
  buyerAddress: string;
};

export type MarketTierChange = { id: string; agentAddress: string; from: number; to: number; time: number };

export type Offered = {
  capability: string;
  listings: number;
  sellers: number;
  lowestPriceUsdc: string | null;
  medianPriceUsdc: string | null;
  /** Its hires of the window; null where the node sells insights. */
  window: { hires: number; successRate: number | null } | null;
};

export type Totals = {
  counts: {
    agents: number;
    sellers: number;
    listings: number;
    capabilities: number;
    tier2Agents: number;
    clusters: number;
    clusteredAgents: number;
    heldUsdc: string;
    escrowsHeld: number;
  };
  window: { hires: number; successRate: number | null; volumeUsdc: string };
  allTime: { hires: number; volumeUsdc: string };
  series: DaySeries;
};

/** The answer to {@link MARKET}. */
export type Market = {
  meta: Meta;
  agents: { totalCount: number; totalCountIsEstimate: boolean; nodes: MarketAgent[] };
  hires: { totalCount: number; totalCountIsEstimate: boolean; nodes: MarketHire[] };
  tierChanges: { nodes: MarketTierChange[] };
  market: Totals;
  capabilities: { nodes: Offered[] };
};

export const MARKET = `query Market {
  ${META}
  agents(orderBy: RANK, first: 25) {
    totalCount totalCountIsEstimate
    nodes {
      address trustTier successRate last30dHireCount last24hVolumeUsdc avgStars clusterSize
      listings(first: 8) { nodes { capability priceUsdc } }
    }
  }
  hires(first: 12) {
    totalCount totalCountIsEstimate
    nodes { id time capability priceUsdc outcome sellerAddress buyerAddress }
  }
  market {
    counts {
      agents sellers listings capabilities tier2Agents clusters clusteredAgents heldUsdc escrowsHeld
    }
    window { hires successRate volumeUsdc }
    allTime { hires volumeUsdc }
    series(days: 30) { from to days { day figures { hires successes failures volumeUsdc } } }
  }
  capabilities(first: 24) {
    nodes { capability listings sellers lowestPriceUsdc medianPriceUsdc window { hires successRate } }
  }
  tierChanges(first: 4) { nodes { id agentAddress from to time } }
}`;
