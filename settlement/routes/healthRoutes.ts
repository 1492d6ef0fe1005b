import { Hono } from "hono";
import type { AppDependencies } from "../app.ts";

/** `GET /health`: 200 while the service can settle, with the ledger's size and how anchoring goes. */
export function healthRoutes({ ledger, held, ledgerName, anchoring }: AppDependencies): Hono {
  const app = new Hono();
  app.get("/health", (c) =>
    c.json({
      status: "ok",
      ...ledgerName,
      size: ledger.size,
      hash: ledger.head,
      held: held.size,
      anchoring: anchoring?.() ?? null,
    }),
  );
  return app;
}
