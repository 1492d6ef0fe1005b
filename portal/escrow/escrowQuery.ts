import { META, type Meta } from "../node/nodeState.ts";

/** The contracts and the token that a node follows. */
export type NodeContracts = {
  chainId: number;
  contracts: { escrows: { address: string; provider: string }[] };
  token: { address: string; domainName: string | null; domainVersion: string | null };
};

/** An escrow as a node describes it. The page checks the terms against the id before it uses them. */
export type NodeEscrow = {
  id: string;
  contract: string;
  provider: string;
  hireId: string;
  buyerAddress: string;
  sellerAddress: string;
  payee: string;
  amountUsdc: string;
  feeUsdc: string;
  feeRecipient: string | null;
  deadline: number;
  arbiter: string | null;
  status: string;
  delivered: boolean;
  depositedTime: number;
  settledTime: number | null;
  toSellerUsdc: string | null;
  toBuyerUsdc: string | null;
  refundedBy: string | null;
  hire: { id: string } | null;
  steps: { kind: string; time: number; tx: string }[];
};

/** An escrow in a list. */
export type ListedEscrow = Pick<
  NodeEscrow,
  | "id"
  | "status"
  | "delivered"
  | "toBuyerUsdc"
  | "amountUsdc"
  | "buyerAddress"
  | "sellerAddress"
  | "deadline"
  | "depositedTime"
>;

/** The answer to {@link ESCROW}. */
export type EscrowAnswer = { meta: Meta & NodeContracts; escrow: NodeEscrow | null };

/** The answer to {@link CONTRACTS}. */
export type ContractsAnswer = {
  meta: Meta & NodeContracts;
  escrows: { totalCount: number; nodes: ListedEscrow[] };
};

const CONTRACTS_OF_NODE = `meta {
    contracts { escrows { address provider } }
    token { address domainName domainVersion }
  }`;

export const CONTRACTS = `query Contracts {
  ${META}
  ${CONTRACTS_OF_NODE}
  escrows(first: 10) {
    totalCount
    nodes { id status delivered toBuyerUsdc amountUsdc buyerAddress sellerAddress deadline depositedTime }
  }
}`;

export const ESCROW = `query Escrow($id: ID!) {
  ${META}
  ${CONTRACTS_OF_NODE}
  escrow(id: $id) {
    id contract provider hireId buyerAddress sellerAddress payee amountUsdc feeUsdc feeRecipient deadline arbiter
    status delivered depositedTime settledTime toSellerUsdc toBuyerUsdc refundedBy
    hire { id }
    steps { kind time tx }
  }
}`;
