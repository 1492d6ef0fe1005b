import type { Answer } from "../node/askGraphql.ts";
import { askGraphql } from "../node/askGraphql.ts";
import { META, type Meta } from "../node/nodeState.ts";

/** The parameters of a node, in the form that its operator signs. */
export type Params = { [name: string]: unknown };

export type NetworkMeta = Meta & {
  contracts: { anchoredLedger: string | null; escrows: { address: string; provider: string }[] };
  token: { address: string; decimals: number; domainName: string | null };
};

/** A record that sets the parameters. If it is valid, they are in force from its place in the ledger on. */
export type ParamsRecord = {
  ledger: string;
  seq: number;
  record: { body: Params | null; signer: string; time: number; valid: boolean; reason: string | null } | null;
};

export type Network = {
  meta: NetworkMeta;
  version: number;
  params: Params;
  /** The latest first. */
  history: ParamsRecord[];
};

export const NETWORK = `query Network {
  ${META}
  network: meta {
    contracts { anchoredLedger escrows { address provider } } token { address decimals domainName }
  }
  params { version body }
  paramsHistory(first: 100) { nodes { ledger seq record { body signer time valid reason } } }
}`;

type Answered = {
  meta: Meta;
  network: Pick<NetworkMeta, "contracts" | "token">;
  params: { version: number; body: Params } | null;
  paramsHistory: { nodes: ParamsRecord[] };
};

/** Asks the node for the parameters in force, for its contracts, and for the latest records that set parameters. */
export async function askNetwork(signal: AbortSignal): Promise<Answer<Network>> {
  const answer = await askGraphql<Answered>({ query: NETWORK, variables: {} }, signal);
  const { meta, network, params, paramsHistory } = answer.data;
  return {
    ...answer,
    data: {
      meta: { ...meta, ...network },
      version: params?.version ?? 0,
      params: params?.body ?? {},
      history: paramsHistory.nodes,
    },
  };
}
