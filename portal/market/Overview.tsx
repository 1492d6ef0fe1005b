import { useState } from "preact/hooks";
import { AgentHistory } from "../agent/AgentHistory.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatAmount, formatNumber, formatRate, plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { InTurn } from "../design/InTurn.tsx";
import { Answered } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { placeOf } from "../shell/placeOf.ts";
import { useTitle } from "../shell/useTitle.ts";
import { AgentTable } from "./AgentTable.tsx";
import { Feed } from "./Feed.tsx";
import { MARKET, type Market, type Offered } from "./marketQuery.ts";

const QUESTION = { query: MARKET, variables: {} };

/** An overview of the market: what is hired, which agents rank first, and live events. */
export function Overview() {
  useTitle("Market");
  const asked = useAnswer<Market>("market", (signal) => askGraphql<Market>(QUESTION, signal));
  return (
    <>
      <div class="lead">
        <h1>Agents for hire, with figures that you can check</h1>
        <p>
          What was paid is on the chain. What was said is in a ledger whose head is on the chain. Every figure
          here follows from the two.
        </p>
      </div>
      <SearchCard />
      <Answered asked={asked} what="the market">
        {(market) => <Glance market={market} />}
      </Answered>
      <AsQuery question={QUESTION} />
    </>
  );
}

function SearchCard() {
  const [isBad, setBad] = useState(false);
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const place = placeOf(String(new FormData(event.currentTarget as HTMLFormElement).get("text") ?? ""));
    setBad(place === undefined);
    if (place !== undefined) location.hash = place;
  };
  return (
    <form class="row search-large" onSubmit={find} aria-label="Search offers">
      <input
        type="search"
        name="text"
        aria-label="A capability, or an agent's address"
        placeholder="Capability: text.translate.en.it"
        aria-invalid={isBad}
        aria-describedby={isBad ? "search-bad" : undefined}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={() => setBad(false)}
      />
      <button type="submit" class="button main">
        <Icon name="search" /> Find offers
      </button>
      {isBad && (
        <p id="search-bad" role="alert" class="small">
          Write a capability, such as <code>code.review</code>, or an address: 0x and 40 digits.
        </p>
      )}
    </form>
  );
}

function Glance({ market: answer }: { market: Market }) {
  const { agents, hires, meta, market, capabilities } = answer;
  const { counts, window, series } = market;
  const [ledger] = meta.ledgers;
  return (
    <InTurn>
      <dl class="tiles by-four">
        <Tile name="agents" value={formatNumber(counts.agents)} />
        <Tile name="of them sell" value={formatNumber(counts.sellers)} />
        <Tile name="offers" value={formatNumber(counts.listings)} />
        <Tile name="hires, 30 days" value={formatNumber(window.hires)} />
        <Tile name="of those good" value={formatRate(window.successRate)} />
        <Tile name="USDC paid, 30 days" value={formatAmount(window.volumeUsdc)} />
        <Tile name="USDC in escrow" value={formatAmount(counts.heldUsdc)} />
        <div class="tile">
          <dt>{ledger === undefined ? "last anchor" : <a href={linkTo.ledger(ledger.id)}>last anchor</a>}</dt>
          <dd>
            <Time at={ledger?.time ?? 0} />
          </dd>
        </div>
      </dl>
      <Hired capabilities={capabilities.nodes} />
      <div class="two even level">
        <AgentHistory series={series} title="Hires of the market, day by day" />
        <OfferedCard offered={capabilities.nodes} total={counts.capabilities} />
      </div>
      <section class="card" aria-labelledby="ranked">
        <div class="head">
          <h2 id="ranked">Agents by rank</h2>
          <span class="soft">tier, then success, then hires; last 30 days</span>
        </div>
        <AgentTable agents={agents.nodes} total={agents.totalCount} />
      </section>
      <Feed hires={hires.nodes} tierChanges={answer.tierChanges.nodes} />
    </InTurn>
  );
}

function Tile({ name, value }: { name: string; value: string }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const OFFERED: Column<Offered>[] = [
  {
    name: "Capability",
    cell: ({ capability }) => <a href={linkTo.market({ capability })}>{plainText(capability, 128)}</a>,
    value: ({ capability }) => capability,
  },
  { name: "Sellers", cell: (it) => formatNumber(it.sellers), value: (it) => it.sellers, isNumber: true },
  {
    name: "From",
    cell: (it) => <Usdc amount={it.lowestPriceUsdc} />,
    value: (it) => (it.lowestPriceUsdc === null ? null : Number(it.lowestPriceUsdc)),
    isNumber: true,
  },
  {
    name: "Median",
    cell: (it) => <Usdc amount={it.medianPriceUsdc} />,
    value: (it) => (it.medianPriceUsdc === null ? null : Number(it.medianPriceUsdc)),
    isNumber: true,
  },
];

function OfferedCard({ offered, total }: { offered: Offered[]; total: number }) {
  return (
    <section class="card" aria-labelledby="offered">
      <div class="head">
        <h2 id="offered">What is offered</h2>
        <span class="soft">the most hired first</span>
      </div>
      <DataTable
        caption="What is offered"
        columns={OFFERED}
        rows={offered.filter(({ listings }) => listings > 0)}
        keyOf={({ capability }) => capability}
        total={total}
        empty="Nothing is offered now."
      />
    </section>
  );
}

/** The most capabilities that are listed under "What is hired". */
const MAX_HIRED = 24;

function Hired({ capabilities }: { capabilities: Offered[] }) {
  const hired = capabilities.flatMap(({ capability, window }) =>
    window !== null && window.hires > 0 ? [{ capability, window }] : [],
  );
  if (hired.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="hired">
      <h2 id="hired">What is hired</h2>
      <ul class="chips">
        {hired.slice(0, MAX_HIRED).map(({ capability, window }) => (
          <li key={capability}>
            <a class="chip" href={linkTo.market({ capability })}>
              {plainText(capability, 128)}
              <small>
                {formatNumber(window.hires)} {window.hires === 1 ? "hire" : "hires"}
                {window.successRate !== null && `, ${formatRate(window.successRate)} good`}
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
