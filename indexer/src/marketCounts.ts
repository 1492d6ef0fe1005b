import type { Row, TableName } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";

/** The counts of the market. */
export type MarketCounts = {
  agents: number;
  /** Agents with a live listing. */
  sellers: number;
  tier1Agents: number;
  tier2Agents: number;
  clusteredAgents: number;
  clusters: number;
  /** The live listings. */
  listings: number;
  /** Capabilities with at least one offer. */
  capabilities: number;
  ratings: number;
  escrowsHeld: number;
  heldAmount: bigint;
};

export const NO_COUNTS: MarketCounts = {
  agents: 0,
  sellers: 0,
  tier1Agents: 0,
  tier2Agents: 0,
  clusteredAgents: 0,
  clusters: 0,
  listings: 0,
  capabilities: 0,
  ratings: 0,
  escrowsHeld: 0,
  heldAmount: 0n,
};

/** What a row of a table adds to the counts. Tables that are not listed here add nothing. */
const COUNTED: { [T in TableName]?: (row: Row<T>) => Partial<MarketCounts> } = {
  agent: ({ liveListings, trustTier, ownershipCluster, fingerprintCluster }) => ({
    agents: 1,
    sellers: Number(liveListings > 0),
    tier1Agents: Number(trustTier === 1),
    tier2Agents: Number(trustTier === 2),
    clusteredAgents: Number(ownershipCluster !== null || fingerprintCluster !== null),
  }),
  cluster: ({ mergedInto, size }) => ({ clusters: Number(mergedInto === null && size > 0) }),
  listing: ({ live }) => ({ listings: Number(live) }),
  offer: ({ listings }) => ({ capabilities: Number(listings > 0) }),
  rating: ({ status }) => ({ ratings: Number(status === "counted") }),
  escrow: ({ status, amount }) =>
    status === "held" ? { escrowsHeld: 1, heldAmount: amount } : { escrowsHeld: 0, heldAmount: 0n },
};

/** What the changes of one or more events add to the counts; null if they add nothing. */
export function marketCountsOf(changes: readonly RowChange[]): MarketCounts | null {
  let sum = NO_COUNTS;
  for (const { table, before, after } of changes) {
    const countsOf = COUNTED[table] as ((row: RowChange["after"]) => Partial<MarketCounts>) | undefined;
    if (countsOf === undefined) continue;
    sum = addCounts(sum, countsOf(after), 1);
    if (before !== null) sum = addCounts(sum, countsOf(before), -1);
  }
  return Object.values(sum).some((value) => value !== 0 && value !== 0n) ? sum : null;
}

export function addCounts(sum: MarketCounts, by: Partial<MarketCounts>, sign: 1 | -1 = 1): MarketCounts {
  const added = { ...NO_COUNTS, heldAmount: sum.heldAmount + BigInt(sign) * (by.heldAmount ?? 0n) };
  for (const name of Object.keys(NO_COUNTS) as (keyof MarketCounts)[]) {
    if (name !== "heldAmount") added[name] = sum[name] + sign * (by[name] ?? 0);
  }
  return added;
}
