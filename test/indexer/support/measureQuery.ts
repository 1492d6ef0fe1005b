import { expect } from "chai";
import type { Hono } from "hono";
import type { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { rowsRead } from "./rowsRead.ts";

type ApiDatabase = Awaited<ReturnType<typeof openApiDatabase>>;

/** The number of rows that all statements of a query read, its answer, and the number of objects in the answer. */
export async function measureQuery(
  app: Hono,
  database: ApiDatabase,
  query: string,
): Promise<{ read: number; given: number; plans: string; data: object }> {
  const { read, plans, body } = await measureRequest(app, database, "/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = body as { data: object; errors?: unknown };
  expect(errors, JSON.stringify(errors)).to.equal(undefined);
  return { read, given: nodesIn(data), plans, data };
}

/** The number of rows that all statements of a request read, and its answer. */
export async function measureRequest(
  app: Hono,
  database: ApiDatabase,
  path: string,
  { status = 200, ...init }: RequestInit & { status?: number } = {},
): Promise<{ read: number; plans: string; body: unknown }> {
  database.statements = 0;
  const response = await app.request(path, init);
  expect(response.status, await response.clone().text()).to.equal(status);
  const body = await response.json();
  // The statement for the tick of the answer is left out. Estimates are left out too, because they read no rows.
  const sent = [...database.sent].filter(({ query }) => !/^EXPLAIN|from (?:"\w+"\.)?"state"/i.test(query));
  const statements = await Promise.all(sent.map((it) => rowsRead(database.pool, it)));
  return {
    read: statements.reduce((sum, it) => sum + it.read, 0),
    plans: statements.map(({ plan }) => plan).join("\n"),
    body,
  };
}

function nodesIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + 1 + nodesIn(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum, item) => sum + nodesIn(item), 0);
}
