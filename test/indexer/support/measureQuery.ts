import { expect } from "chai";
import type { Hono } from "hono";
import type { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { rowsRead } from "./rowsRead.ts";

/** Rows that all statements of a query looked at, and objects that its answer has. */
export async function measureQuery(
  app: Hono,
  database: Awaited<ReturnType<typeof openApiDatabase>>,
  query: string,
): Promise<{ read: number; given: number; plans: string }> {
  database.statements = 0;
  const response = await app.request("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const body = (await response.json()) as { data: object; errors?: unknown };
  expect(body.errors, JSON.stringify(body.errors)).to.equal(undefined);
  // Without the one row that says what an answer is as of, and without estimates: these read nothing.
  const sent = [...database.sent].filter(({ query }) => !/^EXPLAIN|from (?:"\w+"\.)?"state"/i.test(query));
  const statements = await Promise.all(sent.map((it) => rowsRead(database.pool, it)));
  return {
    read: statements.reduce((sum, it) => sum + it.read, 0),
    given: nodesIn(body.data),
    plans: statements.map(({ plan }) => plan).join("\n"),
  };
}

function nodesIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + 1 + nodesIn(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum, item) => sum + nodesIn(item), 0);
}
