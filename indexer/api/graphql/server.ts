import { renderGraphiQL } from "@graphql-yoga/render-graphiql";
import { createYoga, maskError as maskAny } from "graphql-yoga";
import { isDatabaseAway } from "../../databaseWatch.ts";
import { logWarning } from "../../ponderProcess.ts";
import { createTimelineFeed } from "../stream/timelineFeed.ts";
import { asOfExtension } from "./asOfExtension.ts";
import { type Connection, queryContext, type ServerContext } from "./context.ts";
import { refusal } from "./errors.ts";
import { examples } from "./examples.ts";
import { Followers } from "./followers.ts";
import { LIMITS, type Limits, limitPlugins, queryTimeout } from "./limits.ts";
import { graphqlSchema } from "./schema.ts";

export type GraphqlOptions = Pick<ServerContext, "db" | "operations" | "node"> & {
  insightsAreFree?: boolean;
  limits?: Limits;
  subscriptions?: number;
  /** Milliseconds between two checks for news while there are subscriptions. */
  pollMs?: number;
};

const tabs = examples.map(({ title, text, query, variables }) => ({
  title,
  query: `# ${title}. ${text}\n${query}`,
  ...(variables && { variables: JSON.stringify(variables, null, 2) }),
}));

/** GraphQL over HTTP at `/graphql`, with GraphiQL for browsers. */
export function graphqlServer(options: GraphqlOptions) {
  const {
    db,
    operations,
    node,
    insightsAreFree = true,
    limits,
    subscriptions = LIMITS.subscriptions,
    pollMs = 500,
  } = options;
  const shared: ServerContext = {
    db,
    operations,
    node,
    insightsAreFree,
    feed: createTimelineFeed({ db, everyMs: pollMs }),
    followers: new Followers(subscriptions),
  };
  return createYoga<Connection>({
    schema: graphqlSchema,
    graphqlEndpoint: "/graphql",
    // With Node's own streams the server notices at once when a client leaves a subscription, and not only at
    // the next ping.
    fetchAPI: { Request, Response, ReadableStream },
    landingPage: false,
    batching: false,
    // The app itself allows every origin on every route.
    cors: false,
    graphiql: { title: "Tallystick", defaultTabs: tabs },
    // Our own page, which works without any other server.
    renderGraphiQL,
    context: ({ incoming, outgoing }) =>
      queryContext(shared, { ...(incoming && { incoming }), ...(outgoing && { outgoing }) }),
    plugins: [asOfExtension(), ...limitPlugins(limits)],
    maskedErrors: { isDev: false, maskError },
    logging: {
      debug: () => {},
      info: () => {},
      warn: (...words) => logWarning({ msg: "GraphQL", warning: words.map(String).join(" ") }),
      error: (...words) =>
        logWarning({ msg: "A GraphQL resolver failed", cause: words.map(detail).join(" ") }),
    },
  });
}

/**
 * An error that is not a GraphQL error is our own fault. It goes to the log. The client only learns what it
 * can do.
 */
function maskError(error: unknown, message: string, isDev?: boolean): Error {
  const cause = (error as { originalError?: unknown }).originalError ?? error;
  const code = (cause as { code?: unknown }).code;
  if (code === QUERY_CANCELED) return queryTimeout();
  if (isDatabaseAway(cause)) {
    const message = "The database of this node does not answer now; try again later, or ask another node.";
    return refusal("DATABASE_UNAVAILABLE", message, { status: 503, retryAfter: 5 });
  }
  const isBusy =
    cause instanceof Error && cause.message.startsWith("timeout exceeded when trying to connect");
  if (isBusy || code === LOCK_NOT_AVAILABLE) {
    const message = "This node is too busy; try again later, or ask another node.";
    return refusal("OVERLOADED", message, { status: 503, retryAfter: 5 });
  }
  return maskAny(error, message, isDev);
}

/** The code of Postgres for tables that stay locked, as when an upgrade of a busy node switches them. */
const LOCK_NOT_AVAILABLE = "55P03";

/** The code of Postgres for a statement that reached its time limit. */
const QUERY_CANCELED = "57014";

function detail(word: unknown): string {
  return word instanceof Error ? (word.stack ?? word.message) : String(word);
}
