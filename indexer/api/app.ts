import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { measureRoutes, type ObserveRequest } from "tallystick-runtime/http/measureRoutes";
import type { DatabaseWatch } from "../databaseWatch.ts";
import { anyOrigin } from "./anyOrigin.ts";
import { ACTUATION_LOG_PATH } from "./audits/routes.ts";
import { breachStepsRoute } from "./breachSteps/routes.ts";
import { compressJson } from "./compressJson.ts";
import { refuseWhileAway } from "./databaseAway.ts";
import { forwardSettlement } from "./forwardSettlement.ts";
import { checkParameters } from "./graphql/checkParameters.ts";
import type { Connection, QueryContext } from "./graphql/context.ts";
import { graphqlServer } from "./graphql/server.ts";
import type { InsightsPrice } from "./insights/paywall.ts";
import { ENTRIES_PATH, ledgerEntries } from "./ledgerEntries.ts";
import { LOG_PATHS } from "./log/routes.ts";
import { servePages } from "./pages/servePages.ts";
import { servePortal } from "./portal/servePortal.ts";
import { problem, problemResponse } from "./problem.ts";
import { createRestApi, READING_PATHS } from "./rest/createRestApi.ts";

export type ApiDependencies = Pick<QueryContext, "db" | "operations" | "node"> & {
  /** The URL of settlement, without a trailing slash; null: its routes answer 503. */
  settlementUrl: string | null;
  /** The ledgers whose entries this node serves; default none. The first one is the default of the route. */
  ledgers?: readonly Hex[];
  /** The version of the code and the configuration, for the tags of cached answers. */
  version?: string;
  /** The price of insights; null: they are free. */
  insightsPrice?: InsightsPrice | null;
  /** The key that signs trust reports (Ed25519), 32 bytes; null: there are no reports. */
  reportKey?: Uint8Array | null;
  /** The most open subscriptions of all clients together. */
  subscriptions?: number;
  /** Tells whether the database answers. Without it each request has to find out. */
  watch?: Pick<DatabaseWatch, "isAway" | "goesAwayDuring">;
  /** Called after every answer. */
  observeRequest?: ObserveRequest | undefined;
};

const MAX_QUERY_BYTES = 64 * 1024;

/** The public HTTP app of the indexer. Ponder adds `/health`, `/ready`, `/status` and `/metrics`. */
export function createApi({
  settlementUrl,
  version = "0",
  insightsPrice = null,
  reportKey = null,
  subscriptions,
  watch,
  observeRequest,
  ledgers = [],
  ...base
}: ApiDependencies): Hono {
  const app = new Hono();
  if (observeRequest) app.use(measureRoutes(observeRequest));
  app.use(anyOrigin());
  app.use(compressJson());
  const graphql = graphqlServer({
    ...base,
    insightsAreFree: insightsPrice === null,
    ...(subscriptions !== undefined && { subscriptions }),
  });
  const limit = bodyLimit({
    maxSize: MAX_QUERY_BYTES,
    onError: (context) =>
      context.json(
        { errors: [{ message: "A query may have at most 64 KiB.", extensions: { code: "QUERY_TOO_LONG" } }] },
        413,
      ),
  });
  const answers = refuseWhileAway(watch);
  const pagesOfFinal = [...LOG_PATHS, ACTUATION_LOG_PATH, breachStepsRoute.path, ENTRIES_PATH];
  for (const path of ["/graphql", "/v1/search", ...READING_PATHS, ...pagesOfFinal]) app.use(path, answers);
  app.on(["GET", "POST", "OPTIONS"], "/graphql", limit, checkParameters(), ({ req, env }) =>
    graphql.fetch(req.raw, (env ?? {}) as Connection),
  );
  app.route(
    "/",
    createRestApi({
      db: base.db,
      token: base.node.token as Address,
      version,
      insightsPrice,
      reportKey,
      watch,
    }),
  );
  // This comes before the forwarded routes. A node serves its own copy even if the ledger's service is gone.
  app.route("/", ledgerEntries(base.db, ledgers));
  app.route("/", forwardSettlement(settlementUrl));
  app.route("/", servePortal());
  app.route("/", servePages());
  // Ponder mounts this app in its own app. So a route answers here: the `notFound` handler of Ponder's app would
  // replace ours.
  app.all("*", ({ req }) => problem(404, "not_found", `There is nothing at ${req.method} ${req.path}.`));
  app.onError(problemResponse);
  return app;
}
