import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { chargeLines } from "../charge.ts";
import type { Database } from "../database.ts";
import { digestPage } from "../rows/digests.ts";
import { eventPage } from "../rows/eventPage.ts";
import { FOR_NOW, FOREVER, finalPage } from "./finalPage.ts";
import { digestsRoute, eventsRoute, LINES_HEADER } from "./routes.ts";

/**
 * The price does not depend on compression or on a cached copy at the client, because reading and hashing
 * always cost the same.
 */
function charge(env: unknown, lines: number, body: string): void {
  chargeLines(env, { lines, bytes: Buffer.byteLength(body) });
}

/** Adds the routes of the open log: its pages, and the digests to compare with. */
export function serveLog(app: OpenAPIHono, db: Database, token: Address): void {
  app.openapi(eventsRoute, async ({ req, env }) => {
    const { after, limit } = req.valid("query");
    const { lines, last } = await eventPage(db, token, { after, limit });
    const body = lines.map((line) => `${line}\n`).join("");
    charge(env, lines.length, body);
    if (after > last) {
      const issues = [{ field: "after", message: `must be from 0 to ${last}, the last line that is final` }];
      throw new InvalidInputError({ code: "not_in_log", issues });
    }
    const next = after + lines.length + 1;
    return finalPage(req.header("if-none-match"), body, {
      "content-type": "application/jsonl",
      "cache-control": next <= last ? FOREVER : FOR_NOW,
      [LINES_HEADER]: `first=${after + 1}, next=${next}, last=${last}`,
    });
  });
  app.openapi(digestsRoute, async ({ req, env }) => {
    const { from, to, limit } = req.valid("query");
    if (to !== undefined && to < from)
      throw new InvalidInputError({ issues: [{ field: "to", message: "must not be before from" }] });
    const { digests, next } = await digestPage(db, { from, to, limit });
    const body = JSON.stringify({ digests, next });
    charge(env, digests.length, body);
    return finalPage(req.header("if-none-match"), body, {
      "content-type": "application/json",
      // A version with new digests gives others for the same blocks.
      "cache-control": FOR_NOW,
    }) as never;
  });
}
