import { Address } from "../design/Address.tsx";
import { ClusterBadge, Tier } from "../design/Badges.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatAmount, formatNumber, formatRate, plainText } from "../design/format.ts";
import { linkTo } from "../router/route.ts";
import type { MarketAgent } from "./marketQuery.ts";

const COLUMNS: Column<MarketAgent>[] = [
  { name: "Agent", cell: (it) => <Address address={it.address} />, value: (it) => it.address },
  { name: "Tier", cell: (it) => <Tier tier={it.trustTier} />, value: (it) => it.trustTier, isNumber: false },
  {
    name: "Success",
    cell: (it) => formatRate(it.successRate),
    value: (it) => it.successRate,
    isNumber: true,
  },
  {
    name: "Hires",
    cell: (it) => formatNumber(it.last30dHireCount),
    value: (it) => it.last30dHireCount,
    isNumber: true,
  },
  {
    name: "USDC, 24 h",
    cell: (it) => formatAmount(it.last24hVolumeUsdc),
    value: (it) => Number(it.last24hVolumeUsdc),
    isNumber: true,
  },
  {
    name: "Stars",
    cell: (it) => formatNumber(it.avgStars),
    value: (it) => it.avgStars,
    isNumber: true,
  },
  {
    name: "Cluster",
    cell: (it) => <ClusterBadge size={it.clusterSize} />,
    value: ({ clusterSize }) => (clusterSize > 1 ? clusterSize : null),
  },
  { name: "Offers", cell: (it) => <Offered agent={it} />, value: (it) => offersOf(it).join(" ") || null },
];

function offersOf({ listings }: MarketAgent): string[] {
  return [...new Set(listings.nodes.map(({ capability }) => plainText(capability, 128)))];
}

function Offered({ agent }: { agent: MarketAgent }) {
  const offers = offersOf(agent);
  const [first] = offers;
  if (first === undefined) return <span class="soft">–</span>;
  return (
    <span>
      <a href={linkTo.market({ capability: first })}>{first}</a>
      {offers.length > 1 && (
        <span class="soft" title={offers.join(", ")}>
          {" "}
          +{offers.length - 1}
        </span>
      )}
    </span>
  );
}

/** Lists agents in the order of their rank. */
export function AgentTable({ agents, total }: { agents: MarketAgent[]; total: number }) {
  return (
    <DataTable
      caption="Agents by rank"
      columns={COLUMNS}
      rows={agents}
      keyOf={(it) => it.address}
      total={total}
      empty="No agent has appeared yet. An agent appears when it publishes a listing or takes part in a counted hire."
    />
  );
}
