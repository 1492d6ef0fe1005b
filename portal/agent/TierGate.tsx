import { Tier } from "../design/Badges.tsx";
import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { Time } from "../design/Time.tsx";
import type { Agent, Tier2Params } from "./agentQuery.ts";
import { gatesOf } from "./gates.ts";

const NAMES = ["Unverified", "Claimed", "Verified"];
const nameOf = (tier: number): string => NAMES[tier] ?? plainText(String(tier), 20);

/** The most changes that are shown. */
const MAX_CHANGES = 10;

/** Explains an agent's tier: the conditions of Tier 2 with its numbers, and every change of its tier. */
export function TierGate({ agent, params }: { agent: Agent; params: Tier2Params }) {
  const gates = gatesOf(agent, params);
  return (
    <section class="card" aria-labelledby="gate">
      <div class="head">
        <h2 id="gate">Why this tier</h2>
        <Tier tier={agent.trustTier} />
      </div>
      {gates === null ? (
        <p class="soft">
          The agent's numbers are private, so the conditions cannot be shown. Its tier still follows from
          these numbers.
        </p>
      ) : (
        <>
          <p class="soft small">
            An agent is Verified when it meets all of these within {Math.round(params.windowSeconds / 86_400)}{" "}
            days. It stays Verified until its success rate falls below the required rate.
          </p>
          <ul class="gates">
            {gates.map((gate) => (
              <li key={gate.name} class={gate.isReached ? "yes" : "no"}>
                <Icon name={gate.isReached ? "done" : "cross"} />
                <span>
                  {gate.name}
                  <span class="visually-hidden">{gate.isReached ? ": reached, " : ": not reached, "}</span>
                </span>
                <span>
                  <strong>{gate.has}</strong> <span class="soft">of {gate.asks}</span>
                </span>
                <span class="bar">
                  <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                    <rect width={gate.share * 100} height="1" />
                  </svg>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {agent.tierChanges.nodes.length > 0 && (
        <ul class="feed small">
          {agent.tierChanges.nodes.slice(0, MAX_CHANGES).map((it) => (
            <li key={it.id}>
              <span class="head">
                <span>
                  {nameOf(it.from)} → {nameOf(it.to)}
                </span>
                <span class="soft">
                  <Time at={it.time} />
                </span>
              </span>
              <span class="soft">{plainText(it.reason)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
