import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { compressJson } from "./compressJson.ts";
import { forwardSettlement } from "./forwardSettlement.ts";
import type { QueryContext } from "./graphql/context.ts";
import { graphqlServer } from "./graphql/server.ts";
import type { InsightsPrice } from "./insights/paywall.ts";
import { servePages } from "./pages/servePages.ts";
import { problem, problemResponse } from "./problem.ts";
import { createRestApi } from "./rest/createRestApi.ts";

export type ApiDependencies = Pick<QueryContext, "db" | "operations" | "node"> & {
  /** Where settlement routes go, without a trailing slash; null: they answer 503. */
  settlementUrl: string | null;
  /** Of the code and configuration that make answers, for tags of cached ones. */
  version?: string;
  /** What insights cost; null: nothing. */
  insightsPrice?: InsightsPrice | null;
};

const MAX_QUERY_BYTES = 64 * 1024;

/** The public HTTP app of the indexer. Ponder adds `/health`, `/ready`, `/status` and `/metrics`. */
export function createApi({
  settlementUrl,
  version = "0",
  insightsPrice = null,
  ...base
}: ApiDependencies): Hono {
  const app = new Hono();
  app.use(compressJson());
  const graphql = graphqlServer({ ...base, insightsAreFree: insightsPrice === null });
  const limit = bodyLimit({
    maxSize: MAX_QUERY_BYTES,
    onError: (context) =>
      context.json(
        { errors: [{ message: "A query may have at most 64 KiB.", extensions: { code: "QUERY_TOO_LONG" } }] },
        413,
      ),
  });
  app.on(["GET", "POST", "OPTIONS"], "/graphql", limit, (context) => graphql.fetch(context.req.raw));
  app.route("/", createRestApi({ db: base.db, version, insightsPrice }));
  app.route("/", forwardSettlement(settlementUrl));
  app.route("/", servePages());
  // A route, not a `notFound` handler: Ponder mounts this app in its own, whose handler would answer instead.
  app.all("*", ({ req }) => problem(404, "not_found", `There is nothing at ${req.method} ${req.path}.`));
  app.onError(problemResponse);
  return app;
}
