import type { Answer } from "../node/askGraphql.ts";
import { askGraphql } from "../node/askGraphql.ts";
import { META, type Meta } from "../node/nodeState.ts";
import { request } from "../node/request.ts";

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
}`;

export const HISTORY = `query ParamsHistory($ledger: ID!) {
  ledgerEntries(ledger: $ledger, recordType: "params", first: 50) {
    nodes { ledger seq record { body signer time valid reason } }
  }
}`;

/** Most ledgers whose records are read. A node follows only a few. */
const MAX_LEDGERS = 4;

/** Asks the node for the parameters in force, for its contracts, and for every record that set parameters. */
export async function askNetwork(signal: AbortSignal): Promise<Answer<Network>> {
  const [said, answer] = await Promise.all([
    request("/v1/params", { signal }),
    askGraphql<{ meta: Meta; network: Pick<NetworkMeta, "contracts" | "token"> }>(
      { query: NETWORK, variables: {} },
      signal,
    ),
  ]);
  const { version, params } = said.json as { version?: unknown; params?: Params };
  const { meta, network } = answer.data;
  const histories = await Promise.all(
    meta.ledgers.slice(0, MAX_LEDGERS).map(async ({ id }) => {
      const { data } = await askGraphql<{ ledgerEntries: { nodes: ParamsRecord[] } }>(
        { query: HISTORY, variables: { ledger: id } },
        signal,
      );
      return data.ledgerEntries.nodes;
    }),
  );
  const history = histories.flat().sort((a, b) => (b.record?.time ?? 0) - (a.record?.time ?? 0));
  return {
    ...answer,
    data: { meta: { ...meta, ...network }, version: Number(version ?? 0), params: Object(params), history },
  };
}
