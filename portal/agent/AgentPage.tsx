import { useEffect } from "preact/hooks";
import { AsQuery } from "../design/AsQuery.tsx";
import { shortHash } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { Later } from "../shell/Later.tsx";
import { loadPart } from "../shell/lateParts.ts";
import { useTitle } from "../shell/useTitle.ts";
import { AgentHead } from "./AgentHead.tsx";
import { AgentHistory } from "./AgentHistory.tsx";
import { AgentLists } from "./AgentLists.tsx";
import { AGENT, type AgentAnswer } from "./agentQuery.ts";
import { FigureList } from "./FigureList.tsx";
import { TierGate } from "./TierGate.tsx";

const loadIdentities = () => import("./IdentityBlock.tsx").then((it) => it.IdentityBlock);
const loadTrust = () => import("./AgentTrust.tsx").then((it) => it.AgentTrust);

/**
 * The page of an agent, to decide whether to trust it: its tier with the conditions, each figure with its
 * formula, its offers, hires and ratings.
 */
export function AgentPage({ address }: { address: string }) {
  useTitle(`Agent ${shortHash(address)}`);
  // It is loaded while the node answers. An error shows when it is drawn.
  useEffect(() => void loadPart(loadTrust).catch(() => {}), []);
  const question = { query: AGENT, variables: { address } };
  const asked = useAnswer<AgentAnswer>(`agent ${address}`, (signal) =>
    askGraphql<AgentAnswer>(question, signal),
  );
  return (
    <>
      <Answered asked={asked} what="the agent" heading={`Agent ${shortHash(address)}`}>
        {(answer) =>
          answer.agent === null ? <Unknown address={address} /> : <Known {...answer} agent={answer.agent} />
        }
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function Unknown({ address }: { address: string }) {
  return (
    <div class="stack">
      <h1>Nobody here by that address</h1>
      <Notice kind="info" title={address}>
        No listing of this wallet is in a ledger that this node follows, and it took part in no counted hire.
        A new listing shows once its entry is anchored.
      </Notice>
    </div>
  );
}

function Known(props: AgentAnswer & { agent: NonNullable<AgentAnswer["agent"]> }) {
  const { agent, params } = props;
  return (
    <>
      <AgentHead agent={agent} />
      <div class="two level">
        {agent.series !== null && <AgentHistory series={agent.series} />}
        {params !== null && <TierGate agent={agent} params={params} />}
      </div>
      <AgentLists agent={agent} />
      <Later load={loadTrust} agent={agent} />
      {agent.identities.nodes.length > 0 && <Later load={loadIdentities} identities={agent.identities} />}
      <FigureList agent={agent} />
    </>
  );
}
