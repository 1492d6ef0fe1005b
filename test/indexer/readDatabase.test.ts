import { expect } from "chai";
import { sql } from "drizzle-orm";
import { inTurnsOf, Turns } from "tallystick-runtime/http/turns";
import { openReadDatabase, type ReadDatabase } from "../../indexer/readDatabase.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("openReadDatabase", () => {
  let databaseUrl: string;
  before(async () => {
    databaseUrl = await testDatabase();
  });

  const limits = { withinMs: 120_000, everyMs: 20 };
  const codeOf = async ({ db }: ReadDatabase, query: ReturnType<typeof sql>): Promise<string | undefined> => {
    const error = await db.execute(query).then(
      () => null,
      (it) => it,
    );
    return error?.code;
  };

  it("reads in the node's schema, and writes nothing", async () => {
    const open = openReadDatabase({ databaseUrl, databaseSchema: "public", statementTimeoutMs: 60_000 });
    try {
      const { rows } = await open.db.execute<{ path: string }>(sql`SELECT current_schema() AS path`);
      expect(rows).to.deep.equal([{ path: "public" }]);
      expect(await codeOf(open, sql`CREATE TABLE mine (id int)`)).to.equal("25006");
    } finally {
      await open.close();
    }
  });

  it("ends a statement that takes too long, and runs others afterwards", async () => {
    const open = openReadDatabase({ databaseUrl, databaseSchema: "public", statementTimeoutMs: 100 });
    try {
      // If this process is stopped for a second, it ends the long statement before it reads the answer of Postgres. On a
      // busy machine the short statement may take too long too.
      const ended = async () => (await codeOf(open, sql`SELECT pg_sleep(120)`)) === "57014";
      await waitUntil(ended, { what: "the end of a long statement", ...limits });
      const isDone = async () => (await codeOf(open, sql`SELECT 1`)) === undefined;
      await waitUntil(isDone, { what: "a short statement", ...limits });
    } finally {
      await open.close();
    }
  });

  it("runs only a limited number of statements of one client at a time, so that other clients find free connections", async () => {
    const { db, close } = openReadDatabase({ databaseUrl, databaseSchema: "shared", connections: 8 });
    const active = sql`SELECT pg_sleep(0.02), (SELECT count(*)::int FROM pg_stat_activity
      WHERE application_name = 'shared_api' AND state = 'active') AS active`;
    const most = async (statements: number) => {
      const answers = Array.from({ length: statements }, () => db.execute<{ active: number }>(active));
      return Math.max(...(await Promise.all(answers)).map(({ rows }) => rows[0]?.active ?? 0));
    };
    try {
      // On a busy machine the connections may open so slowly that the first few have done everything by then.
      const found = await waitUntil(
        async () => {
          const count = await most(16);
          return count >= 4 && count;
        },
        { what: "statements at the same time", ...limits },
      );
      expect(found).to.be.at.most(8);
      expect(await inTurnsOf(new Turns(() => 2), () => most(16))).to.be.within(1, 2);
    } finally {
      await close();
    }
  });
});
