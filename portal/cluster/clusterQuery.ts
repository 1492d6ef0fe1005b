import { META, type Meta } from "../node/nodeState.ts";

export type ClusterMember = {
  address: string;
  trustTier: number;
  successRate: number | null;
  last30dHireCount: number;
  last30dHireCountRaw: number;
};

export type ClusterSignal = {
  id: string;
  signal: string;
  funder: string;
  memberCount: number;
  members: string[];
  dropped: boolean;
};

export type ClusterTransfer = {
  from: string;
  to: string;
  amountUsdc: string | null;
  time: number;
  block: number;
  log: number;
  reason: string;
};

export type ClusterWallet = { address: string; isMember: boolean; kind: string | null };

export type Cluster = {
  id: string;
  kind: string;
  size: number;
  formedTime: number;
  mergedIds: string[];
  members: { nodes: ClusterMember[] };
  graph: { isWhole: boolean; nodes: ClusterWallet[]; signals: ClusterSignal[]; edges: ClusterTransfer[] };
};

/** The answer to {@link CLUSTER}. */
export type ClusterAnswer = { meta: Meta; cluster: Cluster | null };

export const CLUSTER = `query Cluster($id: ID!) {
  ${META}
  cluster(id: $id) {
    id kind size formedTime mergedIds
    members(first: 100) {
      nodes { address trustTier successRate last30dHireCount last30dHireCountRaw }
    }
    graph(members: 200) {
      isWhole
      nodes { address isMember kind }
      signals { id signal funder memberCount members dropped }
      edges { from to amountUsdc time block log reason }
    }
  }
}`;
