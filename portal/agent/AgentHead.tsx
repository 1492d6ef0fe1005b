import { AddressMark } from "../design/AddressMark.tsx";
import { Tier } from "../design/Badges.tsx";
import { CopyButton } from "../design/CopyButton.tsx";
import { Icon } from "../design/Icon.tsx";
import { Notice } from "../design/Notice.tsx";
import { Time } from "../design/Time.tsx";
import { linkTo } from "../router/route.ts";
import { type Agent, explainedOf } from "./agentQuery.ts";
import { concernsOf, sentenceOf } from "./concerns.ts";
import { FigureValue } from "./FigureValue.tsx";
import { FIGURES } from "./figures.ts";

/** The most important figures for a reader. */
const FIRST = [
  "SUCCESS_RATE",
  "LAST_30D_HIRE_COUNT",
  "DISTINCT_BUYERS",
  "AVG_LATENCY_MS_P95",
  "AVG_STARS",
  "LAST_24H_VOLUME_USDC",
];

/**
 * The top of an agent's page, which a reader understands in ten seconds: name, tier, one sentence, warnings
 * and six figures.
 */
export function AgentHead({ agent }: { agent: Agent }) {
  const concerns = concernsOf(agent);
  return (
    <section class="stack gap" aria-label="The agent at a glance">
      <div class="who">
        <AddressMark address={agent.address} size={56} />
        <div class="stack tight">
          <h1>
            {agent.address} <CopyButton text={agent.address} what="the address" />
          </h1>
          <div class="row">
            <Tier tier={agent.trustTier} />
            {agent.claimStatus === "verified" && <span class="badge claimed">claimed by a human</span>}
            {agent.privateMetrics && <span class="badge">private metrics</span>}
            <span class="soft small">
              since <Time at={agent.registeredTime} isDate />
            </span>
          </div>
        </div>
      </div>
      <div class="head">
        <p class="sum">{sentenceOf(agent)}</p>
        <a class="button main" href={linkTo.verify(agent.address)}>
          <Icon name="shield" /> Check it yourself
        </a>
      </div>
      {concerns.length > 0 && (
        <Notice kind="warn" title="Before you hire it">
          <ul class="plain">
            {concerns.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Notice>
      )}
      <dl class="tiles by-six">
        {FIRST.map((field) => {
          const figure = FIGURES.find((it) => it.field === field);
          if (figure === undefined) return null;
          return (
            <div class="tile" key={field}>
              <dt>{figure.name}</dt>
              <dd>
                <FigureValue figure={figure} value={explainedOf(agent, field).value} />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
