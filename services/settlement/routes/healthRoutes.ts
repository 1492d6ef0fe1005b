import { Hono } from "hono";
import type { AppDependencies } from "../appDependencies.ts";

/**
 * `GET /health`: 200 while the service can settle, with the ledger's size, the service's mode, and the state of
 * verification, anchoring and witnesses. While the service only reads: 503 with the same, and with `code`, `detail` and
 * `hint`. `GET /metrics`: the same and more, for Prometheus.
 */
export function healthRoutes({
  ledger,
  engine,
  held,
  ledgerName,
  verification,
  anchoring,
  witnesses,
  metrics,
  gate,
}: AppDependencies): Hono {
  const app = new Hono();
  app.get("/health", (c) => {
    const { refusal } = gate;
    const reason = refusal && { code: refusal.code, detail: refusal.message, hint: refusal.hint };
    const health = {
      status: refusal ? "unhealthy" : "ok",
      ...reason,
      mode: engine.mode,
      ...ledgerName,
      size: ledger.size,
      hash: ledger.head,
      held: held.waiting,
      verification: verification(),
      anchoring: anchoring?.() ?? null,
      witnesses: witnesses?.() ?? null,
    };
    return c.json(health, refusal ? 503 : 200);
  });
  app.get("/metrics", async () => {
    return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
  });
  return app;
}
