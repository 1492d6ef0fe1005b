import { Hono } from "hono";
import type { AppDependencies } from "../appDependencies.ts";
import { pyJsonResponse } from "../http/pyJsonResponse.ts";

/**
 * What agents may know (swarm.at §2, §6.2).
 *
 * - `GET /v1/context?keywords=a,b`: the keys that are named, of the institutional rules and of the shared state, and
 *   `core_logic`. The header `x-parent-hash` is the head it was taken at, which a proposal made from it names as its
 *   parent.
 * - `GET /v1/rules`: the rules as a whole. `x-rules-version` is their version in both.
 */
export function contextRoutes({ index, ledger, ruleBook }: AppDependencies): Hono {
  const app = new Hono();
  const headers = () => ({
    "x-parent-hash": ledger.head,
    "x-rules-version": String(ruleBook.rules.version),
  });
  app.get("/v1/context", (c) => {
    const keywords = (c.req.query("keywords") ?? "").split(",").filter((keyword) => keyword !== "");
    return pyJsonResponse(index.contextSlice(keywords, ruleBook.rules.slices), headers());
  });
  app.get("/v1/rules", () => pyJsonResponse(ruleBook.rules.slices, headers()));
  return app;
}
