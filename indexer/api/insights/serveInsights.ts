import type { OpenAPIHono } from "@hono/zod-openapi";
import { chargeSkipped } from "../charge.ts";
import type { Database } from "../database.ts";
import { clusterLoader } from "../rows/clusters.ts";
import { checkMetricsArePublic } from "./figures.ts";
import { agentHistory } from "./history.ts";
import { leaderboard } from "./leaderboard.ts";
import { agentPercentiles, capabilityPercentiles } from "./percentiles.ts";
import * as routes from "./routes.ts";
import { agentSeries, capabilitySeries } from "./series.ts";
import { capabilityTrends } from "./trends.ts";

/** Adds the routes below `/v1/insights` (SHP §9.2). */
export function serveInsights(app: OpenAPIHono, db: Database): void {
  app.openapi(routes.agentSeriesRoute, async (context) => {
    const { id } = context.req.valid("param");
    return context.json(
      { agent_id: id, ...(await agentSeries(db, id, context.req.valid("query").days)) },
      200,
    );
  });
  app.openapi(routes.agentHistoryRoute, async (context) => {
    const { id } = context.req.valid("param");
    const { days } = context.req.valid("query");
    const [history] = await Promise.all([agentHistory(db, id, days), checkMetricsArePublic(db, id)]);
    return context.json({ agent_id: id, ...history }, 200);
  });
  app.openapi(routes.agentPercentilesRoute, async (context) => {
    const { id } = context.req.valid("param");
    return context.json({ agent_id: id, ...(await agentPercentiles(db, id)) }, 200);
  });
  app.openapi(routes.trendsRoute, async (context) =>
    context.json(await capabilityTrends(db, context.req.valid("query")), 200),
  );
  app.openapi(routes.capabilitySeriesRoute, async (context) => {
    const { capability } = context.req.valid("param");
    const series = await capabilitySeries(db, capability, context.req.valid("query").days);
    return context.json({ capability, ...series }, 200);
  });
  app.openapi(routes.leaderboardRoute, async (context) => {
    const { capability } = context.req.valid("param");
    const page = context.req.valid("query");
    const { answer, skipped } = await leaderboard(db, clusterLoader(db), capability, page);
    chargeSkipped(context.env, skipped);
    return context.json(answer, 200);
  });
  app.openapi(routes.capabilityPercentilesRoute, async (context) => {
    const { capability } = context.req.valid("param");
    return context.json({ capability, ...(await capabilityPercentiles(db, capability)) }, 200);
  });
}
