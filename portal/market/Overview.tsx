import { useState } from "preact/hooks";
import { AsQuery } from "../design/AsQuery.tsx";
import { formatNumber, formatRate } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { Answered } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { placeOf } from "../shell/placeOf.ts";
import { useTitle } from "../shell/useTitle.ts";
import { AgentTable } from "./AgentTable.tsx";
import { Feed } from "./Feed.tsx";
import { MARKET, type Market, type Trend } from "./marketQuery.ts";

const QUESTION = { query: MARKET, variables: {} };

/** The market at a glance: what is hired, who ranks first, what happens now. */
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
        placeholder="A capability, such as text.translate.en.it"
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

function Glance({ market }: { market: Market }) {
  const { agents, hires, meta, insights } = market;
  const [ledger] = meta.ledgers;
  const about = (isEstimate: boolean) => (isEstimate ? "about " : "");
  return (
    <>
      <dl class="tiles">
        <div class="tile">
          <dt>agents</dt>
          <dd>
            {about(agents.totalCountIsEstimate)}
            {formatNumber(agents.totalCount)}
          </dd>
        </div>
        <div class="tile">
          <dt>hires counted</dt>
          <dd>
            {about(hires.totalCountIsEstimate)}
            {formatNumber(hires.totalCount)}
          </dd>
        </div>
        <div class="tile">
          <dt>ledger entries</dt>
          <dd>{formatNumber(ledger?.size ?? 0)}</dd>
        </div>
        <div class="tile">
          <dt>last anchor</dt>
          <dd>
            <Time at={ledger?.time ?? 0} />
          </dd>
        </div>
      </dl>
      {insights !== undefined && insights.trends.nodes.length > 0 && (
        <Capabilities trends={insights.trends.nodes} />
      )}
      <div class="two">
        <section class="card" aria-labelledby="ranked">
          <div class="head">
            <h2 id="ranked">Agents by rank</h2>
            <span class="soft">tier, then success, then hires; last 30 days</span>
          </div>
          <AgentTable agents={agents.nodes} total={agents.totalCount} />
        </section>
        <Feed hires={hires.nodes} tierChanges={market.tierChanges.nodes} />
      </div>
    </>
  );
}

function Capabilities({ trends }: { trends: Trend[] }) {
  return (
    <section class="stack" aria-labelledby="hired">
      <h2 id="hired">What is hired</h2>
      <ul class="chips">
        {trends.map(({ capability, window }) => (
          <li key={capability}>
            <a class="chip" href={linkTo.market({ capability })}>
              {capability}
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
