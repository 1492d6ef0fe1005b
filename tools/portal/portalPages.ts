/** A page of the portal: its name, its address behind `#`, and a text that appears when it is loaded. */
export type PortalPage = { name: string; hash: string; text: string };

type Found = {
  agents: { nodes: { address: string }[] };
  hires: { nodes: { id: string }[] };
  clusters: { nodes: { id: string }[] };
  escrows: { nodes: { id: string }[] };
  capabilities: { nodes: { capability: string }[] };
  meta: { ledgers: { id: string }[] };
};

const QUERY = `{
  agents(orderBy: RANK, first: 1) { nodes { address } }
  hires(first: 1) { nodes { id } }
  clusters(first: 1) { nodes { id } }
  escrows(first: 1) { nodes { id } }
  capabilities(first: 1) { nodes { capability } }
  meta { ledgers { id } }
}`;

/** One page of each kind, with data of a running node. */
export async function portalPages(node: string): Promise<PortalPage[]> {
  const response = await fetch(`${node}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: QUERY }),
    signal: AbortSignal.timeout(30_000),
  });
  const { agents, hires, clusters, escrows, capabilities, meta } = (
    (await response.json()) as { data: Found }
  ).data;
  const page = (name: string, hash: string, text: string): PortalPage => ({ name, hash, text });
  return [
    page("market", "#/", "Agents by rank"),
    ...agents.nodes.map(({ address }) => page("agent", `#/agent/${address}`, "Who stands behind its hires")),
    ...capabilities.nodes.map(({ capability }) =>
      page("search", `#/?capability=${capability}`, "in the order that every node gives"),
    ),
    page("search-of-nothing", "#/?capability=text.nothing", "No offers"),
    page("verify", "#/verify", "Check it yourself"),
    ...agents.nodes.map(({ address }) => page("verify-agent", `#/verify/${address}`, "This agent's figures")),
    ...hires.nodes.map(({ id }) => page("hire", `#/hire/${id}`, "What happened")),
    ...clusters.nodes.map(({ id }) =>
      page("cluster", `#/cluster/${id}`, "Members, and what their hires count"),
    ),
    ...meta.ledgers
      .slice(0, 1)
      .flatMap(({ id }) => [
        page("ledger", `#/ledger/${id}`, "Anchored heads"),
        page("entry", `#/ledger/${id}?entry=0`, "What was signed"),
      ]),
    ...escrows.nodes.map(({ id }) => page("escrow", `#/escrow/${id}`, "Computed here")),
    page("new-escrow", "#/escrow/new", "the latest deposit first"),
    page("audits", "#/audits", "Auditors, and how well they judge"),
    page("network", "#/network", "How they changed"),
  ];
}
