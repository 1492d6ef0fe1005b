import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { logWarning } from "../../ponderProcess.ts";
import { forwardSettlement } from "./forwardSettlement.ts";
import type { QueryContext } from "./graphql/context.ts";
import { graphqlServer } from "./graphql/server.ts";
import { problem } from "./problem.ts";

export type ApiDependencies = Pick<QueryContext, "db" | "operations" | "node"> & {
  /** Where settlement routes go, without a trailing slash; null: they answer 503. */
  settlementUrl: string | null;
};

const MAX_QUERY_BYTES = 64 * 1024;

/** The public HTTP app of the indexer. Ponder adds `/health`, `/ready`, `/status` and `/metrics`. */
export function createApi({ settlementUrl, ...base }: ApiDependencies): Hono {
  const app = new Hono();
  const graphql = graphqlServer(base);
  const limit = bodyLimit({
    maxSize: MAX_QUERY_BYTES,
    onError: (context) =>
      context.json(
        { errors: [{ message: "A query may have at most 64 KiB.", extensions: { code: "QUERY_TOO_LONG" } }] },
        413,
      ),
  });
  app.on(["GET", "POST", "OPTIONS"], "/graphql", limit, (context) => graphql.fetch(context.req.raw));
  app.route("/", forwardSettlement(settlementUrl));
  // A route, not a `notFound` handler: Ponder mounts this app in its own, whose handler would answer instead.
  app.all("*", ({ req }) => problem(404, "not_found", `There is nothing at ${req.method} ${req.path}.`));
  app.onError((error) => {
    logWarning({ msg: "A request failed", error: error.stack ?? error.message });
    return problem(500, "internal", "The request could not be served. The cause is in the log.");
  });
  return app;
}
