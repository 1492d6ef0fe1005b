import { InTurn } from "../design/InTurn.tsx";
import { Later } from "../shell/Later.tsx";
import { AuditsCard, IndependenceCard, SlaCard, StewardCard } from "./AgentTrust.tsx";
import type { Agent } from "./agentQuery.ts";
import { FigureList } from "./FigureList.tsx";

const loadIdentities = () => import("./IdentityBlock.tsx").then((it) => it.IdentityBlock);

/**
 * The lower part of an agent's page: who bought from the agent, its trust score, its guarantees, its audits, every
 * figure.
 */
export function AgentDetails({ agent }: { agent: Agent }) {
  return (
    <InTurn>
      <IndependenceCard agent={agent} />
      <StewardCard agent={agent} />
      <SlaCard agent={agent} />
      <AuditsCard agent={agent} />
      {agent.identities.nodes.length > 0 && <Later load={loadIdentities} identities={agent.identities} />}
      <FigureList agent={agent} />
    </InTurn>
  );
}
