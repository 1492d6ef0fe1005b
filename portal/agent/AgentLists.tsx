import { Address } from "../design/Address.tsx";
import { Outcome } from "../design/Badges.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatLatency, formatMode, formatNumber, plainText, urlText } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { linkTo } from "../router/route.ts";
import type { Agent, AgentHire, AgentListing, AgentRating } from "./agentQuery.ts";

const LISTINGS: Column<AgentListing>[] = [
  {
    name: "Capability",
    cell: (it) => <a href={linkTo.market({ capability: it.capability })}>{plainText(it.capability, 128)}</a>,
    value: (it) => it.capability,
  },
  {
    name: "Price",
    cell: (it) => (
      <>
        <Usdc amount={it.priceUsdc} /> {it.firstCallFree && <span class="badge good">first free</span>}
      </>
    ),
    value: (it) => Number(it.priceUsdc),
    isNumber: true,
  },
  { name: "Paid", cell: (it) => formatMode(it.paymentMode), value: (it) => it.paymentMode },
  {
    name: "Answers within",
    cell: (it) => formatLatency(it.maxLatencyMs),
    value: (it) => it.maxLatencyMs,
    isNumber: true,
  },
  {
    name: "Audited",
    cell: (it) => (it.auditFrom === null ? <span class="soft">no</span> : "yes"),
    value: (it) => (it.auditFrom === null ? "no" : "yes"),
  },
  // A stranger's URL is shown as text and not as a link. A reader can copy it.
  {
    name: "Endpoint",
    cell: (it) => <code>{plainText(urlText(it.endpoint), 80)}</code>,
    value: (it) => it.endpoint,
  },
];

const EVIDENCE: { [evidence: string]: string } = {
  ESCROW: "the escrow",
  BUYER: "the buyer",
  SELLER: "the seller",
  AUDIT: "an audit",
};

const HIRES: Column<AgentHire>[] = [
  {
    name: "Capability",
    cell: (it) => <a href={linkTo.hire(it.id)}>{plainText(it.capability ?? "not named", 128)}</a>,
    value: (it) => it.capability,
  },
  { name: "Outcome", cell: (it) => <Outcome outcome={it.outcome} />, value: (it) => it.outcome },
  {
    name: "By",
    cell: (it) => EVIDENCE[it.evidence] ?? plainText(it.evidence, 40),
    value: (it) => it.evidence,
  },
  {
    name: "Price",
    cell: (it) => <Usdc amount={it.priceUsdc} />,
    value: (it) => Number(it.priceUsdc),
    isNumber: true,
  },
  { name: "Counts", cell: (it) => formatNumber(it.weight), value: (it) => it.weight, isNumber: true },
  { name: "Latency", cell: (it) => formatLatency(it.latencyMs), value: (it) => it.latencyMs, isNumber: true },
  { name: "Buyer", cell: (it) => <Address address={it.buyerAddress} />, value: (it) => it.buyerAddress },
  { name: "Paid", cell: (it) => <Time at={it.time} />, value: (it) => it.time, isNumber: true },
];

const RATINGS: Column<AgentRating>[] = [
  {
    name: "Stars",
    cell: (it) => <Stars count={it.stars} />,
    value: (it) => it.stars,
  },
  { name: "From", cell: (it) => <Address address={it.rater} />, value: (it) => it.rater },
  { name: "As", cell: (it) => `its ${plainText(it.side, 20)}`, value: (it) => it.side },
  { name: "Counts", cell: (it) => formatNumber(it.weight), value: (it) => it.weight, isNumber: true },
  { name: "Anchored", cell: (it) => <Time at={it.time} />, value: (it) => it.time, isNumber: true },
];

function Stars({ count }: { count: number }) {
  const whole = Math.max(0, Math.min(5, Math.round(count)));
  return (
    <span class="stars">
      <span class="visually-hidden">{whole} of 5</span>
      <span aria-hidden="true">
        {"★".repeat(whole)}
        <span class="soft">{"☆".repeat(5 - whole)}</span>
      </span>
    </span>
  );
}

/** An agent's offers. */
export function OffersCard({ agent: { listings } }: { agent: Agent }) {
  return (
    <section class="card" aria-labelledby="offers">
      <h2 id="offers">Offers</h2>
      <DataTable
        caption="Offers"
        columns={LISTINGS}
        rows={listings.nodes}
        keyOf={(it) => it.id}
        empty="It offers nothing now."
      />
    </section>
  );
}

/** The latest hires that an agent sold. */
export function HiresCard({ agent: { hires } }: { agent: Agent }) {
  return (
    <section class="card" aria-labelledby="hires">
      <div class="head">
        <h2 id="hires">Hires sold</h2>
        <span class="soft">the latest first; “By” names whose word decides the outcome</span>
      </div>
      <DataTable
        caption="Hires sold"
        columns={HIRES}
        rows={hires.nodes}
        keyOf={(it) => it.id}
        total={hires.totalCount}
        empty="None of its hires is counted yet."
      />
    </section>
  );
}

/** The latest ratings of an agent. Shows nothing if there are none. */
export function RatingsCard({ agent: { ratings } }: { agent: Agent }) {
  if (ratings.nodes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="ratings">
      <h2 id="ratings">Ratings received</h2>
      <DataTable
        caption="Ratings received"
        columns={RATINGS}
        rows={ratings.nodes}
        keyOf={(it) => it.id}
        empty="None."
      />
    </section>
  );
}

/** The members of an agent's cluster. Shows nothing if the agent is in no cluster. */
export function ClusterCard({ agent }: { agent: Agent }) {
  const { cluster } = agent;
  if (cluster === null) return null;
  return (
    <section class="card" aria-labelledby="cluster">
      <div class="head">
        <h2 id="cluster">Its cluster</h2>
        <span class="soft">{signalsOf(agent).join(", ")}</span>
      </div>
      <p>
        These {agent.clusterSize} agents seem to have one owner. Each hire among them counts 1/
        {agent.clusterSize}, so that they gain nothing by hiring each other. Work for others counts in full.{" "}
        <a href={linkTo.cluster(cluster.id)}>What put them together</a>.
      </p>
      <ul class="chips">
        {cluster.members.nodes.slice(0, MAX_MEMBERS).map(({ address }) => (
          <li key={address}>
            <Address address={address} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The most members that are named here. The cluster's page names all. */
const MAX_MEMBERS = 24;

const SIGNALS: { [signal: string]: string } = {
  funding_origin: "funded by the same wallet within a day",
  deploy_batch: "registered together, by the same funder",
  listing_fingerprint: "listings alike",
};

function signalsOf({ signalsTripped }: Agent): string[] {
  return signalsTripped
    .slice(0, 8)
    .map((it) => (Object.hasOwn(SIGNALS, it) ? SIGNALS[it] : plainText(it, 60)) ?? "");
}
