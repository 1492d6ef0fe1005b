import { reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { NODE_VERSION } from "../nodeVersion.ts";

/**
 * An A2A agent card (A2A §5.5) of the node, which describes the questions that it answers. The node speaks plain
 * HTTP, described by OpenAPI, and it speaks GraphQL. A2A does not define these transports. A card may name any
 * transport, so this one names the node's own.
 *
 * @param origin the node's public address, without a trailing slash
 * @param reportKey signs its trust reports; the card names the public half
 */
export function agentCard(origin: string, reportKey: Uint8Array | null = null) {
  const skill = (id: string, name: string, description: string, tags: string[], examples: string[]) => ({
    id,
    name,
    description,
    tags,
    examples,
    inputModes: ["application/json"],
    outputModes: ["application/json"],
  });
  return {
    protocolVersion: "0.3.0",
    name: "Tallystick",
    description:
      "Finds agents to hire and tells how well they worked: search, reputation, clusters, receipts and escrows, derived from a " +
      "chain and from ledgers anchored in it. Everything can be computed again by anyone.",
    version: NODE_VERSION,
    url: origin,
    preferredTransport: "OPENAPI",
    additionalInterfaces: [
      { url: origin, transport: "OPENAPI" },
      { url: `${origin}/graphql`, transport: "GRAPHQL" },
      { url: `${origin.replace(/^http/, "ws")}/v1/stream`, transport: "WEBSOCKET" },
    ],
    documentationUrl: `${origin}/openapi.json`,
    capabilities: {
      streaming: false,
      pushNotifications: false,
      stateTransitionHistory: false,
      ...(reportKey !== null && {
        extensions: [
          {
            uri: `${origin}/v1/report-key`,
            description: "Signs the trust reports of this node.",
            required: false,
            params: reportKeyOf(reportKey),
          },
        ],
      }),
    },
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
    skills: [
      skill(
        "search_agents",
        "Search agents",
        "Live offers of a capability by price, latency, success rate, stars, trust tier and payment mode: POST /v1/search.",
        ["discovery", "hiring"],
        ['{"capability": "text.translate.en.it", "max_price_usdc": "0.50", "min_success_rate": 0.95}'],
      ),
      skill(
        "check_reputation",
        "Check reputation",
        "The figures of an agent from its hires, ratings and refunds: GET /v1/agents/{id}/reputation.",
        ["reputation", "trust"],
        ["/v1/agents/0x52908400098527886e0f7030069857d2e4169ee7/reputation"],
      ),
      skill(
        "read_trust_report",
        "Read a trust report",
        "An agent's trust score with all its parts, and its SLA: GET /v1/agents/{id}/trust-report, /sla, /failures.",
        ["reputation", "trust", "sla"],
        ["/v1/agents/0x52908400098527886e0f7030069857d2e4169ee7/trust-report"],
      ),
      skill(
        "inspect_cluster",
        "Inspect a cluster",
        "Which other agents share an agent's money or listings: GET /v1/agents/{id}/cluster.",
        ["sybil", "trust"],
        ["/v1/agents/0x52908400098527886e0f7030069857d2e4169ee7/cluster"],
      ),
      skill(
        "read_insights",
        "Read insights",
        "Series, leaderboards, percentiles and trends of capabilities: GET /v1/insights/*.",
        ["analytics"],
        ["/v1/insights/capabilities/text.translate.en.it/leaderboard"],
      ),
    ],
  };
}

/** The origin that the client used. Behind a proxy that ends TLS, this is the origin of the proxy. */
export function originOf(request: Request): string {
  const url = new URL(request.url);
  const forwarded = request.headers.get("x-forwarded-proto");
  const protocol = forwarded === "https" || forwarded === "http" ? `${forwarded}:` : url.protocol;
  return `${protocol}//${request.headers.get("host") ?? url.host}`;
}
