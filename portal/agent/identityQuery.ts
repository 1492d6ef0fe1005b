/** An identity whose wallet is, or once was, the agent. The counts are of its feedback during that time. */
export type IdentityLink = {
  id: string;
  isCurrent: boolean;
  fromTime: number;
  untilTime: number | null;
  identity: { id: string; uri: string } | null;
  counts: { given: number; backed: number; self: number; unproven: number; revoked: number } | null;
};

/** The first identities of an agent, and whether there are more. */
export type AgentIdentities = { nodes: IdentityLink[]; pageInfo: { hasNextPage: boolean } };

/** The query of an agent's page about its identities. */
export const AGENT_IDENTITIES = `identities(first: 10) {
      nodes {
        id isCurrent fromTime untilTime
        identity { id uri }
        counts { given backed self unproven revoked }
      }
      pageInfo { hasNextPage }
    }`;
