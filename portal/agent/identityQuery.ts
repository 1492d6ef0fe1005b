/** An identity whose wallet the agent is or was, and the counts of its feedback during this time. */
export type IdentityLink = {
  id: string;
  isCurrent: boolean;
  fromTime: number;
  untilTime: number | null;
  identity: { id: string; uri: string } | null;
  counts: { given: number; backed: number; self: number; unproven: number; revoked: number } | null;
};

/** The answer to {@link IDENTITIES}. */
export type IdentityAnswer = {
  agent: { identities: { nodes: IdentityLink[]; pageInfo: { hasNextPage: boolean } } } | null;
};

export const IDENTITIES = `query Identities($address: Address!) {
  agent(address: $address) {
    identities(first: 10) {
      nodes {
        id isCurrent fromTime untilTime
        identity { id uri }
        counts { given backed self unproven revoked }
      }
      pageInfo { hasNextPage }
    }
  }
}`;
