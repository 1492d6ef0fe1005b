import { useEffect } from "preact/hooks";
import { Address } from "../design/Address.tsx";
import { announce } from "../design/announce.ts";
import { ClusterBadge, Tier } from "../design/Badges.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatLatency, formatMode, formatNumber, formatRate } from "../design/format.ts";
import { Answered } from "../design/States.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { useFocusOnChange } from "../design/useFocusOnChange.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { OfferFilters } from "./OfferFilters.tsx";
import { type Offer, type Offers, searchOffers } from "./searchQuery.ts";

const COLUMNS: Column<Offer>[] = [
  { name: "Agent", cell: (it) => <Address address={it.agent_id} />, value: (it) => it.agent_id },
  {
    name: "Price",
    cell: ({ listing }) => (
      <>
        <Usdc amount={listing.price_usdc} />
        {listing.first_call_free && <span class="badge good">first free</span>}
      </>
    ),
    value: ({ listing }) => Number(listing.price_usdc),
    isNumber: true,
  },
  {
    name: "Paid",
    cell: ({ listing }) => formatMode(listing.payment_mode),
    value: ({ listing }) => listing.payment_mode,
    isWords: true,
  },
  {
    name: "Tier",
    cell: ({ reputation }) => <Tier tier={reputation.trust_tier} />,
    value: ({ reputation }) => reputation.trust_tier,
  },
  {
    name: "Success",
    cell: ({ reputation }) => formatRate(reputation.success_rate),
    value: ({ reputation }) => reputation.success_rate,
    isNumber: true,
  },
  {
    name: "Hires",
    cell: ({ reputation }) => formatNumber(reputation.last_30d_hire_count),
    value: ({ reputation }) => reputation.last_30d_hire_count,
    isNumber: true,
  },
  {
    name: "Stars",
    cell: ({ reputation }) => formatNumber(reputation.avg_stars),
    value: ({ reputation }) => reputation.avg_stars,
    isNumber: true,
  },
  {
    name: "Answers within",
    cell: ({ listing }) => formatLatency(listing.max_latency_ms),
    value: ({ listing }) => listing.max_latency_ms,
    isNumber: true,
  },
  {
    name: "Cluster",
    cell: (it) => <ClusterBadge size={it.cluster_size} />,
    value: (it) => (it.cluster_size > 1 ? it.cluster_size : null),
  },
];

/** The offers of one capability, as the search of SHP §6 ranks them. */
export function OffersFound({ search }: { search: URLSearchParams }) {
  const capability = (search.get("capability") ?? "").trim().toLowerCase();
  useTitle(capability);
  const asked = useAnswer<Offers>(`search ${search}`, (signal) => searchOffers(search, signal), {
    isOneList: true,
  });
  const heading = useFocusOnChange(search.get("cursor"));
  const found =
    asked.state !== "ready" || asked.isAsking
      ? ""
      : countOf(asked.last.data.agents.length, asked.last.data.next_cursor !== null);
  useEffect(() => {
    if (found !== "") announce(found);
  }, [found, search]);
  return (
    <>
      <div class="stack">
        <p class="small">
          <a href={linkTo.market()}>Market</a>
        </p>
        <h1>{capability}</h1>
      </div>
      <OfferFilters search={search} />
      <Answered asked={asked} what="offers">
        {({ agents, next_cursor }) => (
          <section class="card" aria-labelledby="offers">
            <div class="head">
              <h2 id="offers" ref={heading} tabIndex={-1}>
                {countOf(agents.length, next_cursor !== null)}
              </h2>
              {agents.length > 0 && (
                <span class="soft">in the order that every node gives: tier, success, hires, price</span>
              )}
            </div>
            <DataTable
              caption={`Offers of ${capability}`}
              columns={COLUMNS}
              rows={agents}
              keyOf={({ agent_id, listing }) => `${agent_id} ${listing.payment_mode}`}
              empty="Nobody offers that within these limits. A rate that is not known yet passes no minimum."
            />
            {next_cursor !== null && (
              <p>
                <a class="button" href={nextPage(search, next_cursor)}>
                  More offers
                </a>
              </p>
            )}
          </section>
        )}
      </Answered>
    </>
  );
}

function nextPage(search: URLSearchParams, cursor: string): string {
  return linkTo.market({ ...Object.fromEntries(search), cursor });
}

function countOf(count: number, isMore: boolean): string {
  if (count === 0) return "No offers";
  return `${count}${isMore ? "+" : ""} ${count === 1 ? "offer" : "offers"}`;
}
