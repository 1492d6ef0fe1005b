import { Hono } from "hono";
import type { AppDependencies } from "../appDependencies.ts";

/**
 * `GET /health`: 200 while the service can settle, with the ledger's size, its mode and how anchoring goes.
 * `GET /metrics`: the same and more, for Prometheus.
 */
export function healthRoutes({
  ledger,
  engine,
  held,
  index,
  ledgerName,
  anchoring,
  metrics,
}: AppDependencies): Hono {
  const app = new Hono();
  app.get("/health", (c) =>
    c.json({
      status: "ok",
      mode: engine.mode,
      ...ledgerName,
      size: ledger.size,
      hash: ledger.head,
      held: Math.max(0, held.size - index.reviews),
      anchoring: anchoring?.() ?? null,
    }),
  );
  app.get("/metrics", async () => {
    return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
  });
  return app;
}
