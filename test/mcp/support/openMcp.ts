import { createHash } from "node:crypto";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Hono } from "hono";
import { createTallystickMcp } from "tallystick-mcp/createTallystickMcp";
import type { McpContext } from "tallystick-mcp/mcpContext";
import type { Market } from "../../sdk/support/market.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Answer = any;

/** Calls a tool. Gives its structured answer, or `{error}` with the error's text. */
export type CallTool = (name: string, args?: object) => Promise<Answer>;

export const callOf =
  (client: Client): CallTool =>
  async (name, args = {}) => {
    const answer = await client.callTool({ name, arguments: args as { [key: string]: unknown } });
    const [content] = answer.content as { text: string }[];
    return answer.isError ? { error: content?.text ?? "" } : answer.structuredContent;
  };

/** A client and a server with the tools. They are connected in this process. */
export async function connectMcp(
  context: McpContext,
): Promise<{ client: Client; call: CallTool; close: () => Promise<void> }> {
  const client = new Client({ name: "test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await createTallystickMcp(context).connect(theirs);
  await client.connect(ours);
  return { client, call: callOf(client), close: () => client.close() };
}

const hashOf = (listing: object): string =>
  createHash("sha256").update(JSON.stringify(listing)).digest("hex");

/** Adds a search over the market's offers, and their lists, to the market's settlement service, as a node has them. */
export function serveSearch(market: Market): void {
  const ledger = market.hosts["node.test"] as Market["hosts"][string];
  const node = new Hono();
  node.post("/v1/search", async (c) => {
    const { capability, payment_mode: mode } = await c.req.json();
    const agents = market.offers
      .filter(({ listing }) => listing.capability === capability)
      .filter(({ listing }) => mode === undefined || (listing.payment_mode ?? "direct") === mode)
      .map(({ agent_id, listing }) => ({
        agent_id,
        cluster_id: null,
        cluster_size: 1,
        listing: { clarification_supported: false, ...listing, entry_hash: hashOf(listing) },
        reputation: { success_rate: null, last_30d_hire_count: 0, avg_stars: null, trust_tier: 0 },
      }));
    return c.json({ agents, next_cursor: null });
  });
  node.get("/v1/agents/:agent/listings", (c) => {
    const agent = c.req.param("agent");
    const listings = market.offers
      .filter(({ agent_id }) => agent_id === agent)
      .map(({ listing }) => ({
        ...{ clarification_supported: false, ...listing },
        ...{ entry_hash: hashOf(listing), retired: false, block: 1 },
      }));
    return c.json({ agent_id: agent, listings, next_cursor: null });
  });
  // Gives a listing's signed record by its hash. The SDK asks for it with its query `SignedRecord`.
  node.post("/graphql", async (c) => {
    const { hash } = (await c.req.json()).variables;
    const entry = market.offers.find(({ listing }) => hashOf(listing) === hash);
    return c.json({ data: { ledgerEntryByHash: entry?.signed ? { record: entry.signed } : null } });
  });
  node.all("*", async (c) => await ledger.request(c.req.raw as never));
  market.hosts["node.test"] = node;
}
