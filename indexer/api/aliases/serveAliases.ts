import type { OpenAPIHono } from "@hono/zod-openapi";
import { TallystickError } from "tallystick-protocol/errors";
import type { Database } from "../database.ts";
import { claimantsOf } from "../rows/aliases.ts";
import { aliasRoute } from "./routes.ts";

/** Adds the routes that find the agent of an alias. */
export function serveAliases(app: OpenAPIHono, db: Database): void {
  app.openapi(aliasRoute, async (context) => {
    const { alias } = context.req.valid("param");
    const [agent_id, other] = await claimantsOf(db, alias);
    if (agent_id === undefined) {
      throw new TallystickError({ code: "unknown_alias", message: `No agent claims the alias ${alias}.` });
    }
    if (other !== undefined) {
      throw new TallystickError({
        code: "ambiguous_alias",
        message: `More than one agent claims the alias ${alias}, so it means none.`,
        hint: "Use the agent's address.",
      });
    }
    return context.json({ alias, agent_id }, 200);
  });
}
