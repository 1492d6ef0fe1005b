import { Hono } from "hono";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { AppDependencies } from "../appDependencies.ts";
import { pyJsonResponse } from "../http/pyJsonResponse.ts";
import { hasBearer } from "../http/requireBearer.ts";

/** The most keys of one answer. A value has up to 64 KiB, and nobody needs a key to ask. */
const MAX_KEYWORDS = 64;

/**
 * What agents may know (swarm.at §2, §6.2).
 *
 * - `GET /v1/context?keywords=a,b`: `core_logic`, and what the institutional rules and the shared state have under the
 *   keys `a` and `b`. A request has at most 64 keys. The header `x-parent-hash` is the head at the time of the answer. A
 *   proposal that is made from the answer names this head as its parent.
 * - `GET /v1/rules`: all rules. In both answers, `x-rules-version` is the version of the rules.
 *
 * The rules of actions and their limits are shown only with a key (Bearer), because they tell an attacker which
 * actions would be allowed.
 */
export function contextRoutes({ index, ledger, ruleBook, apiKeys }: AppDependencies): Hono {
  const app = new Hono();
  const headers = () => ({
    "x-parent-hash": ledger.head,
    "x-rules-version": String(ruleBook.rules.version),
  });
  const slices = ruleBook.rules.slices;
  const { actions: _, action_rules: __, ...shown } = slices;
  const slicesFor = async (authorization: string | undefined) =>
    (await hasBearer(authorization, apiKeys)) ? slices : shown;

  app.get("/v1/context", async (c) => {
    const keywords = (c.req.query("keywords") ?? "").split(",").filter((keyword) => keyword !== "");
    if (keywords.length > MAX_KEYWORDS) {
      const message = `must be at most ${MAX_KEYWORDS}; ask again for the others`;
      throw new InvalidInputError({ issues: [{ field: "keywords", message }] });
    }
    const known = await slicesFor(c.req.header("authorization"));
    // If the rules have this key but it is hidden, the shared state must not give a value for it.
    const hidden = keywords.filter(
      (keyword) => Object.hasOwn(slices, keyword) && !Object.hasOwn(known, keyword),
    );
    const asked = keywords.filter((keyword) => !hidden.includes(keyword));
    return pyJsonResponse(index.contextSlice(asked, known), headers());
  });
  app.get("/v1/rules", async (c) =>
    pyJsonResponse(await slicesFor(c.req.header("authorization")), headers()),
  );
  return app;
}
