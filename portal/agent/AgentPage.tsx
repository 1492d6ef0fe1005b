import { useEffect } from "preact/hooks";
import { AsQuery } from "../design/AsQuery.tsx";
import { shortHash } from "../design/format.ts";
import { InTurn } from "../design/InTurn.tsx";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { Later } from "../shell/Later.tsx";
import { loadPart } from "../shell/lateParts.ts";
import { useTitle } from "../shell/useTitle.ts";
import { AgentHead } from "./AgentHead.tsx";
import { AgentHistory } from "./AgentHistory.tsx";
import { ClusterCard, HiresCard, OffersCard, RatingsCard } from "./AgentLists.tsx";
import { AGENT, type Agent, type AgentAnswer } from "./agentQuery.ts";
import { TierGate } from "./TierGate.tsx";

const loadDetails = () => import("./AgentDetails.tsx").then((it) => it.AgentDetails);

/**
 * The page of an agent, to decide whether to trust it: its tier with the conditions, each figure with its
 * formula, its offers, hires and ratings.
 */
export function AgentPage({ address }: { address: string }) {
  useTitle(`Agent ${shortHash(address)}`);
  // The details are loaded while the node answers. An error of this load shows when the details are drawn.
  useEffect(() => void loadPart(loadDetails).catch(() => {}), []);
  const question = { query: AGENT, variables: { address } };
  const asked = useAnswer<AgentAnswer>(`agent ${address}`, (signal) =>
    askGraphql<AgentAnswer>(question, signal),
  );
  return (
    <>
      <Answered asked={asked} what="the agent" heading={`Agent ${shortHash(address)}`}>
        {(answer) =>
          answer.agent === null ? (
            <Unknown address={address} />
          ) : (
            // The page shows the address that the reader asked for. A node could answer with another address, and the
            // reader could copy it.
            <Known {...answer} agent={{ ...answer.agent, address }} />
          )
        }
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function Unknown({ address }: { address: string }) {
  return (
    <div class="stack">
      <h1>No agent has this address</h1>
      <Notice kind="info" title={address}>
        No listing of this wallet is in a ledger that this node follows, and this wallet took part in no
        counted hire. A new listing shows once its entry is anchored.
      </Notice>
    </div>
  );
}

function Known(props: AgentAnswer & { agent: Agent }) {
  const { agent, params } = props;
  return (
    <InTurn>
      <AgentHead agent={agent} />
      <div class="two level">
        {agent.series !== null && <AgentHistory series={agent.series} />}
        {params !== null && <TierGate agent={agent} params={params} />}
      </div>
      <OffersCard agent={agent} />
      <HiresCard agent={agent} />
      <RatingsCard agent={agent} />
      <ClusterCard agent={agent} />
      <Later load={loadDetails} agent={agent} />
    </InTurn>
  );
}
