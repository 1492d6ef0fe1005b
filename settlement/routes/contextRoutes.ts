import { Hono } from "hono";
import type { AppDependencies } from "../app.ts";
import { pyJsonResponse } from "../http/pyJsonResponse.ts";

/**
 * `GET /v1/context?keywords=a,b` (swarm.at §6.2): the keys of the shared state that are named, and `core_logic`. The
 * header `x-parent-hash` is the head it was taken at, which a proposal made from it names as its parent.
 */
export function contextRoutes({ index, ledger }: AppDependencies): Hono {
  const app = new Hono();
  app.get("/v1/context", (c) => {
    const keywords = (c.req.query("keywords") ?? "").split(",").filter((keyword) => keyword !== "");
    return pyJsonResponse(index.contextSlice(keywords), { "x-parent-hash": ledger.head });
  });
  return app;
}
