import { expect } from "chai";
import type { Hono } from "hono";
import type { Snapshot } from "tallystick-derive/snapshot";
import { createApi } from "../../../indexer/api/app.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { type EventLog, wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";

export type RestApi = Awaited<ReturnType<typeof openRestApi>>;

/** The API over an empty database, without an indexer and without settlement. */
export async function openRestApi() {
  const database = await openApiDatabase(await testDatabase());
  const appOf = (version?: string): Hono =>
    createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node: { chainId: 31_337, token: wallet(0x70) },
      settlementUrl: null,
      ...(version !== undefined && { version }),
    });
  const app = appOf();
  return {
    app,
    /** The same API over the same rows, from another build. */
    appOf,
    database,
    /** Fills the database with the rows that are derived from a log. */
    fill: async (log: EventLog): Promise<Snapshot> => {
      const derived = await log.derive();
      await database.fill(derived.store);
      return derived;
    },
    get: async <Answer>(path: string): Promise<Answer> => {
      const response = await app.request(path);
      expect(response.status, await response.clone().text()).to.equal(200);
      return (await response.json()) as Answer;
    },
    /** Sends a body as JSON. A string is sent unchanged. */
    post: (path: string, body: unknown) =>
      app.request(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    problemOf: async (path: string): Promise<[status: number, code: string]> => {
      const response = await app.request(path);
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      return [response.status, ((await response.json()) as { code: string }).code];
    },
    close: () => database.close(),
  };
}
