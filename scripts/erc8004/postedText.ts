import { facts } from "../query/nodeQuery.ts";

/** The shown fields of an outcome. */
type Shown = {
  status: string;
  agentId?: number;
  index?: number;
  uri: string;
  hash: string;
  transaction?: string;
  transactions?: string[];
  cost?: { gas: bigint; maxFeePerGas: bigint; l1Fee: bigint | null; totalEth: string };
};

const SENTENCES: { [status: string]: string } = {
  quoted: "Nothing was kept or sent: --yes sends it.",
  found: "It is on the chain already. Nothing was sent.",
  posted: "It is on the chain.",
  registered: "The agent is registered.",
  updated: "The agent's identity leads to the new file.",
};

/** An outcome, for people. */
export function postedText(shown: Shown): string {
  const { status, agentId, index, uri, hash, cost, transaction, transactions = [] } = shown;
  return [
    facts([
      ["agent", agentId],
      ["feedback", index],
      ["file", uri],
      ["hash", hash],
      ...[...(transaction === undefined ? [] : [transaction]), ...transactions].map(
        (it): [string, string] => ["transaction", it],
      ),
      [
        "costs at most",
        cost && `${cost.totalEth} ETH (${cost.gas} gas at ${cost.maxFeePerGas} wei${l1Text(cost.l1Fee)})`,
      ],
      ["in USD", cost && "not known: no price of ETH is asked for"],
    ]),
    SENTENCES[status] ?? status,
  ].join("\n");
}

function l1Text(fee: bigint | null): string {
  return fee === null ? "" : `, and ${fee} wei for its data on Ethereum`;
}
