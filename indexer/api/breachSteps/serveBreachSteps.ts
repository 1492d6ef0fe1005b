import type { OpenAPIHono } from "@hono/zod-openapi";
import { linesOf } from "tallystick-derive/steward/sla/lines";
import type { Row } from "tallystick-derive/tables";
import type { Database } from "../database.ts";
import { FOR_NOW, finalPage } from "../log/finalPage.ts";
import { pageOf } from "../rest/cursor.ts";
import { stepsBetween } from "../rows/breachSteps.ts";
import { finishedBlock } from "../rows/checkpoint.ts";
import { rowsById } from "../rows/rowsById.ts";
import { type BreachStepJson, breachStepsRoute } from "./routes.ts";
import { stepJson } from "./stepJson.ts";

/** Adds the routes for the steps of breaches, for clients that follow the SLAs of many agents. */
export function serveBreachSteps(app: OpenAPIHono, db: Database): void {
  app.openapi(breachStepsRoute, async ({ req }) => {
    const { from_block, ...page } = req.valid("query");
    // The block is read first. Blocks that are finished during the reading belong to the next request.
    const final_block = await finishedBlock(db);
    const { shown, next_cursor } = await pageOf(db, stepsBetween(from_block, final_block), page);
    const body = JSON.stringify({ steps: await stepsOf(db, shown), next_cursor, final_block });
    const headers = { "content-type": "application/json", "cache-control": FOR_NOW };
    return finalPage(req.header("if-none-match"), body, headers) as never;
  });
}

async function stepsOf(db: Database, rows: Row<"breachStep">[]): Promise<BreachStepJson[]> {
  const [breaches, slas] = await Promise.all([
    rowsById(db, "breach", [...new Set(rows.map(({ breach }) => breach))]),
    rowsById(db, "sla", [...new Set(rows.map(({ agent }) => agent))]),
  ]);
  const byId = new Map(breaches.map((it) => [it.id, it]));
  const suspensions = new Map(
    slas.flatMap((it) => linesOf(it.suspensions)).map((line) => [line.split(" ")[0], line]),
  );
  return rows.flatMap((row) => {
    const breach = byId.get(row.breach);
    if (breach === undefined) return [];
    const suspension = row.step === "confirmed" ? suspensionOf(suspensions.get(row.breach)) : null;
    return [{ ...stepJson(row, breach), step: row.step as BreachStepJson["step"], suspension }];
  });
}

function suspensionOf(line: string | undefined): BreachStepJson["suspension"] {
  const [, from, until] = line?.split(" ").map(Number) ?? [];
  return from === undefined || until === undefined ? null : { from, until };
}
