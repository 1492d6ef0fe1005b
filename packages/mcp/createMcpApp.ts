import { createMcpHonoApp } from "@modelcontextprotocol/hono";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { createTallystickMcp } from "./createTallystickMcp.ts";
import type { McpContext } from "./mcpContext.ts";

export type McpAppParameters = {
  context: McpContext;
  /** The address to listen at; anything except this machine needs `bearerKey`. */
  host: string;
  /** The key that callers must send as `Authorization: Bearer …`. */
  bearerKey?: string | undefined;
};

/**
 * Serves MCP over streamable HTTP at `/mcp`. On this machine the server refuses web pages of other
 * sites, by the Host and Origin headers. At any other address a key is required, because everybody who
 * reaches the server can spend money.
 *
 * @throws TallystickError `key_required`
 */
export function createMcpApp({ context, host, bearerKey }: McpAppParameters): Hono {
  const isLocal = ["127.0.0.1", "localhost", "::1"].includes(host);
  if (!isLocal && bearerKey === undefined) {
    throw new TallystickError({
      code: "key_required",
      message: `Everybody who reaches ${host} could spend from this wallet.`,
      hint: "Set TALLYSTICK_MCP_KEY, or listen on 127.0.0.1.",
    });
  }
  const app = new Hono();
  // Supervisors have no key.
  app.get("/health", (c) => c.json({ status: "ok" }));
  // This comes before everything that reads a body, so that a body without the key is neither read nor parsed.
  app.use(async (c, next) => {
    const authorization = c.req.header("authorization") ?? "";
    if (bearerKey === undefined || isSame(authorization, `Bearer ${bearerKey}`)) return next();
    return new Response('{"code":"unauthorized"}', {
      status: 401,
      headers: { "www-authenticate": "Bearer" },
    });
  });
  const served = createMcpHonoApp({ host });
  const handler = createMcpHandler(() => createTallystickMcp(context));
  served.all("/mcp", (c) => handler.fetch(c.req.raw, { parsedBody: c.get("parsedBody" as never) }));
  return app.route("/", served);
}

/** Compares two texts in constant time. */
function isSame(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let at = 0; at < given.length; at++) {
    difference |= given.charCodeAt(at) ^ wanted.charCodeAt(at % wanted.length);
  }
  return difference === 0;
}
