import { OpenAPIHono } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import type { Address } from "tallystick-protocol/address";
import { invalidInputFromZod } from "tallystick-protocol/errors";
import type { DatabaseWatch } from "../../databaseWatch.ts";
import { serveAliases } from "../aliases/serveAliases.ts";
import { sayAsOf } from "../asOf.ts";
import { serveAudits } from "../audits/serveAudits.ts";
import { breachStepsRoute } from "../breachSteps/routes.ts";
import { serveBreachSteps } from "../breachSteps/serveBreachSteps.ts";
import { chargeListings } from "../charge.ts";
import type { Database } from "../database.ts";
import { beforePayment, refuseWhileAway } from "../databaseAway.ts";
import { type InsightsPrice, insightsPaywall } from "../insights/paywall.ts";
import { serveInsights } from "../insights/serveInsights.ts";
import { serveLog } from "../log/serveLog.ts";
import { MARKET_PATHS, serveMarket } from "../market/serveMarket.ts";
import { NODE_VERSION } from "../nodeVersion.ts";
import { problem, problemResponse } from "../problem.ts";
import { clusterLoader } from "../rows/clusters.ts";
import { describeSettlement } from "../settlementRoutes.ts";
import { serveSteward } from "../steward/serveSteward.ts";
import { agentCard, originOf } from "./agentCard.ts";
import { cluster, listings, receipts, reputation } from "./agents.ts";
import { etagByBlock } from "./etag.ts";
import { publishedParams } from "./params.ts";
import * as routes from "./routes.ts";
import { search } from "./search.ts";
import { serveSettlementTrust } from "./settlementTrust.ts";

export type RestDependencies = {
  db: Database;
  /** The token whose transfers are in the event log. */
  token: Address;
  /** A version. It changes whenever the code or the configuration of the answers changes. */
  version: string;
  /** The price of insights; null: they are free. */
  insightsPrice?: InsightsPrice | null;
  /** The key that signs trust reports (Ed25519), 32 bytes; null: there are no reports. */
  reportKey?: Uint8Array | null;
  /** Tells whether the database answers. Without it each request has to find out. */
  watch?: Pick<DatabaseWatch, "isAway" | "goesAwayDuring"> | undefined;
};

const INSIGHTS_PATHS = "/v1/insights/*";

/**
 * Paths that read rows. Their answers name their block. They have an ETag, except insights with a price. They are refused
 * while the database is away.
 */
export const READING_PATHS = [
  "/v1/agents/:id/:part",
  "/v1/params",
  INSIGHTS_PATHS,
  "/v1/audits/:hire",
  "/v1/aliases/:alias",
  ...MARKET_PATHS,
];

const MAX_BODY_BYTES = 16 * 1024;

const DESCRIPTION =
  "Answers what agents ask before they hire: who sells a capability, how well, and who may own the seller. Everything is derived " +
  "from a chain and from ledgers anchored in it, and can be computed again by anyone. Reads need no key.";

/** The REST routes of SHP §4.5.2, §6 and §9.2, with their description at `/openapi.json`. */
export function createRestApi({
  db,
  token,
  version,
  insightsPrice = null,
  reportKey = null,
  watch,
}: RestDependencies): OpenAPIHono {
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      return result.success ? undefined : problemResponse(invalidInputFromZod(result.error));
    },
  });
  app.onError(problemResponse);

  const limit = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: () => problem(413, "payload_too_large", "A search may have at most 16 KiB."),
  });
  const etag = etagByBlock(db, version);
  app.on("POST", "/v1/search", limit);
  const dated = sayAsOf(db);
  app.on("POST", "/v1/search", dated);
  // An insight with a price has no tag: with it, a shared cache could give away what one client paid for.
  const tagged = READING_PATHS.filter((path) => insightsPrice === null || path !== INSIGHTS_PATHS);
  app.on("GET", tagged, etag);
  app.on("GET", READING_PATHS, dated);
  // Its pages have tags of their own.
  app.on("GET", breachStepsRoute.path, dated);
  if (insightsPrice !== null) {
    app.use(INSIGHTS_PATHS, beforePayment(), insightsPaywall(insightsPrice), refuseWhileAway(watch));
  }

  app.openapi(routes.searchRoute, async (context) =>
    context.json(
      await search(db, clusterLoader(db), context.req.valid("json"), (looks) =>
        chargeListings(context.env, looks),
      ),
      200,
    ),
  );
  app.openapi(routes.reputationRoute, async (context) =>
    context.json(await reputation(db, clusterLoader(db), context.req.valid("param").id), 200),
  );
  app.openapi(routes.clusterRoute, async (context) => {
    const page = context.req.valid("query");
    return context.json(await cluster(db, clusterLoader(db), context.req.valid("param").id, page), 200);
  });
  app.openapi(routes.listingsRoute, async (context) =>
    context.json(await listings(db, context.req.valid("param").id, context.req.valid("query")), 200),
  );
  app.openapi(routes.receiptsRoute, async (context) =>
    context.json(await receipts(db, context.req.valid("param").id, context.req.valid("query")), 200),
  );
  app.openapi(routes.paramsRoute, async (context) => context.json(await publishedParams(db), 200));
  serveSettlementTrust(app, db);
  serveInsights(app, db);
  serveMarket(app, db, insightsPrice === null);
  serveAudits(app, db);
  serveBreachSteps(app, db);
  serveAliases(app, db);
  serveSteward(app, db, reportKey);
  serveLog(app, db, token);
  // A real WebSocket request never gets here: the server takes it over earlier.
  app.openapi(routes.streamRoute, () => {
    const response = problem(426, "upgrade_required", "This is a WebSocket: connect with ws:// or wss://.");
    response.headers.set("upgrade", "websocket");
    return response;
  });

  app.get("/.well-known/agent-card.json", ({ req, json }) => json(agentCard(originOf(req.raw), reportKey)));
  describeSettlement(app);
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "Tallystick",
      version: NODE_VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    },
    servers: [{ url: "/" }],
  });
  return app;
}
