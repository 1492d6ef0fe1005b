import { renderGraphiQL } from "@graphql-yoga/render-graphiql";
import { createYoga } from "graphql-yoga";
import { logWarning } from "../../../ponderProcess.ts";
import { type QueryContext, queryContext } from "./context.ts";
import { limitPlugins } from "./limits.ts";
import { graphqlSchema } from "./schema.ts";

const FIRST_QUERY = `# Who works here, and how well? Click ▶ to ask.
{
  meta { block time digest ledgers { id size root } blockedAtSegment { reason } }
  agents(first: 10) {
    nodes { address trustTier successRate last30dHireCount last24hVolumeUsdc refundRate clusterId }
  }
}
`;

/** GraphQL over HTTP at `/graphql`, with GraphiQL for browsers. */
export function graphqlServer(base: Pick<QueryContext, "db" | "operations" | "node">) {
  return createYoga({
    schema: graphqlSchema,
    graphqlEndpoint: "/graphql",
    landingPage: false,
    batching: false,
    // Ponder's server allows every origin on every route.
    cors: false,
    graphiql: { title: "Tallystick", defaultQuery: FIRST_QUERY },
    // Served from here: the page works without a connection to anywhere else.
    renderGraphiQL,
    context: () => queryContext(base),
    plugins: limitPlugins(),
    // Whatever is not a GraphQL error is a fault of ours: it goes to the log, not to the client.
    maskedErrors: { isDev: false },
    logging: {
      debug: () => {},
      info: () => {},
      warn: (...words) => logWarning({ msg: "GraphQL", warning: words.map(String).join(" ") }),
      error: (...words) =>
        logWarning({ msg: "A GraphQL resolver failed", error: words.map(detail).join(" ") }),
    },
  });
}

function detail(word: unknown): string {
  return word instanceof Error ? (word.stack ?? word.message) : String(word);
}
