import { plainText, urlText } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import type { AgentIdentities, IdentityLink } from "./identityQuery.ts";

/** The most identities that are shown. */
const MAX_SHOWN = 10;

/**
 * Shows the ERC-8004 identities whose wallet is, or once was, the agent. It also shows how much of their feedback is
 * backed by hires. It shows nothing if there are no identities.
 */
export function IdentityBlock({ identities }: { identities: AgentIdentities }) {
  const { nodes, pageInfo } = identities;
  if (nodes.length === 0) return null;
  return (
    <section class="card stack" aria-label="Identities of ERC-8004">
      <h2>Registered as (ERC-8004)</h2>
      <p class="soft small">
        This is advice: no figure above depends on it. Feedback is backed when it belongs to a counted hire.
      </p>
      <ul class="plain">
        {nodes.slice(0, MAX_SHOWN).map((link) => (
          <li key={link.id}>
            <IdentityLine link={link} />
          </li>
        ))}
      </ul>
      {pageInfo.hasNextPage && <p class="soft small">There are more: ask the node for `agent.identities`.</p>}
    </section>
  );
}

function IdentityLine({ link }: { link: IdentityLink }) {
  const { identity, counts } = link;
  return (
    <div class="stack tight">
      <div class="row">
        <strong>Identity {plainText(identity?.id ?? link.id, 80)}</strong>
        {link.isCurrent ? (
          <span class="badge good">its wallet now</span>
        ) : (
          <span class="badge">
            until <Time at={link.untilTime ?? link.fromTime} isDate />
          </span>
        )}
        <span class="soft small">
          since <Time at={link.fromTime} isDate />
        </span>
      </div>
      {identity !== null && identity.uri !== "" && <code>{plainText(urlText(identity.uri), 80)}</code>}
      {counts !== null && counts.given > 0 && (
        <span class="small">
          Feedback: {counts.given} in all, {counts.backed} backed by a hire, {counts.unproven} unproven,{" "}
          {counts.self} about itself, {counts.revoked} taken back
        </span>
      )}
    </div>
  );
}
