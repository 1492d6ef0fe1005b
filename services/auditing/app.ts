import { Hono } from "hono";
import type { Metrics } from "./metrics.ts";
import type { OperatorState } from "./operatorRound.ts";

/** The process is unhealthy if no round has succeeded for `STALE_ROUNDS` times `roundMs` and one more minute. */
const STALE_ROUNDS = 10;

/**
 * `GET /health`: 503 when no round has succeeded for a long time, else 200. `GET /metrics`: for Prometheus.
 * `GET /challenged`: the hires that wait for a decision. These routes are for the operator's own network. They change
 * nothing.
 */
export function operatorApp(parameters: {
  state: () => OperatorState;
  metrics: Metrics;
  roundMs: number;
  /** Both in milliseconds since 1970. `startedAt` is the start of the process. */
  now: () => number;
  startedAt: number;
}): Hono {
  const { state, metrics, roundMs, now, startedAt } = parameters;
  const app = new Hono();
  app.get("/health", (c) => {
    const { roundAt, nodeTime, failures, challenged } = state();
    const since = Math.max(roundAt * 1_000, startedAt);
    const isStale = now() - since > STALE_ROUNDS * roundMs + 60_000;
    const health = { status: isStale ? "unhealthy" : "ok", roundAt, nodeTime, failures };
    return c.json({ ...health, challenged: challenged.length }, isStale ? 503 : 200);
  });
  app.get("/metrics", async () => {
    return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
  });
  app.get("/challenged", (c) => c.json({ challenged: state().challenged }));
  return app;
}
