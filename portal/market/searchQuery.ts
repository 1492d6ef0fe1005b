import type { Answer } from "../node/askGraphql.ts";
import { asOfHeader } from "../node/asOf.ts";
import { NodeError } from "../node/nodeError.ts";
import { request } from "../node/request.ts";

/** An offer of a capability, with its seller's reputation (SHP §6.2). */
export type Offer = {
  agent_id: string;
  cluster_size: number;
  listing: {
    capability: string;
    price_usdc: string;
    max_latency_ms: number;
    payment_mode: string;
    first_call_free: boolean;
    endpoint: string;
  };
  reputation: {
    success_rate: number | null;
    last_30d_hire_count: number | null;
    avg_stars: number | null;
    trust_tier: number;
  };
};

export type Offers = { agents: Offer[]; next_cursor: string | null };

/** The filters of the page: their names in the page's address and in /v1/search, and the parser of each. */
export const FILTERS = [
  { name: "max_price_usdc", label: "Price at most (USDC)", read: decimal },
  { name: "max_latency_ms", label: "Latency at most (ms)", read: Number },
  { name: "min_success_rate", label: "Success at least (%)", read: (text: string) => Number(text) / 100 },
  { name: "min_trust_tier", label: "Tier at least", read: Number },
  { name: "payment_mode", label: "Paid", read: String },
] as const;

/** The body of a search, from the page's address. */
export function searchBody(search: URLSearchParams): { [name: string]: string | number | boolean } {
  const body: { [name: string]: string | number | boolean } = {
    capability: (search.get("capability") ?? "").trim().toLowerCase(),
    limit: 50,
  };
  for (const { name, read } of FILTERS) {
    const text = search.get(name)?.trim() ?? "";
    if (text === "") continue;
    const value = read(text);
    // JSON has no NaN, and the node takes null for a missing filter. So this sends the text, which the node refuses by
    // name.
    body[name] = Number.isNaN(value) ? text : value;
  }
  if (search.get("audited") === "1") body.audited = true;
  const cursor = search.get("cursor");
  if (cursor !== null && cursor !== "") body.cursor = cursor;
  return body;
}

/** Asks the node for the offers of a capability. */
export async function searchOffers(search: URLSearchParams, signal: AbortSignal): Promise<Answer<Offers>> {
  const { json, headers } = await request("/v1/search", { body: searchBody(search), signal });
  const { agents, next_cursor = null } = json as Partial<Offers>;
  if (!Array.isArray(agents))
    throw new NodeError({ code: "bad_answer", message: "The node's answer has no list of agents." });
  return { data: { agents, next_cursor }, asOf: asOfHeader(headers.get("tallystick-as-of")), at: Date.now() };
}

/** The node takes prices with a decimal point. A reader may write a comma. */
function decimal(text: string): string {
  return text.replace(",", ".");
}
