import { META, type Meta } from "../node/nodeState.ts";

/** An entry of a ledger as the node describes it, with its inclusion proof up to an anchored root. */
export type HireEntry = {
  ledger: string;
  seq: number;
  hash: string;
  record: { type: string; body: unknown; signer: string; signature: string | null; time: number } | null;
  inclusionProof: {
    hashes: string[];
    index: number;
    root: string;
    size: number;
    checkpoint: { block: number; tx: string } | null;
  } | null;
};

export type Hire = {
  id: string;
  hireId: string;
  time: number;
  tx: string;
  capability: string | null;
  priceUsdc: string;
  amountUsdc: string;
  outcome: string;
  evidence: string;
  dispute: boolean;
  disputeSource: string | null;
  weight: number;
  clusterSize: number;
  paymentMode: string;
  latencyMs: number | null;
  buyerAddress: string;
  sellerAddress: string;
  payment: { block: number; time: number; authorized: boolean } | null;
  escrow: {
    id: string;
    status: string;
    depositedTime: number;
    deadline: number;
    delivered: boolean;
    settledTime: number | null;
    toSellerUsdc: string | null;
    toBuyerUsdc: string | null;
  } | null;
  receipt: {
    hash: string;
    time: number;
    completedAt: number;
    allPassed: boolean;
    buyerSigned: boolean;
    entry: HireEntry | null;
  } | null;
  ratings: { id: string; stars: number; side: string; rater: string; time: number }[];
  audit: { status: string; eligibleTime: number; closedTime: number | null } | null;
};

/** The answer to {@link HIRE}. */
export type HireAnswer = { meta: Meta; hire: Hire | null };

export const HIRE = `query Hire($id: ID!) {
  ${META}
  hire(id: $id) {
    id hireId time tx capability priceUsdc amountUsdc outcome evidence dispute disputeSource weight clusterSize
    paymentMode latencyMs buyerAddress sellerAddress
    payment { block time authorized }
    escrow { id status depositedTime deadline delivered settledTime toSellerUsdc toBuyerUsdc }
    receipt {
      hash time completedAt allPassed buyerSigned
      entry {
        ledger seq hash
        record { type body signer signature time }
        inclusionProof { hashes index root size checkpoint { block tx } }
      }
    }
    ratings { id stars side rater time }
    audit { status eligibleTime closedTime }
  }
}`;
