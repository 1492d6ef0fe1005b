import { expect } from "chai";
import { sql } from "drizzle-orm";
import { inTurnsOf, Turns } from "tallystick-runtime/http/turns";
import { openReadDatabase } from "../../indexer/readDatabase.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("openReadDatabase", () => {
  let databaseUrl: string;
  before(async () => {
    databaseUrl = await testDatabase();
  });

  it("reads in the node's schema, writes nothing, and ends a statement that takes too long", async () => {
    const { db, close } = openReadDatabase({
      databaseUrl,
      databaseSchema: "public",
      statementTimeoutMs: 100,
    });
    try {
      const codeOf = async (query: ReturnType<typeof sql>) => {
        const error = await db.execute(query).then(
          () => null,
          (it) => it,
        );
        return error?.code;
      };
      const { rows } = await db.execute<{ path: string }>(sql`SELECT current_schema() AS path`);
      expect(rows).to.deep.equal([{ path: "public" }]);
      expect(await codeOf(sql`SELECT pg_sleep(10)`)).to.equal("57014");
      expect(await codeOf(sql`CREATE TABLE mine (id int)`)).to.equal("25006");
      expect(await codeOf(sql`SELECT 1`)).to.equal(undefined);
    } finally {
      await close();
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
      expect(await most(16)).to.be.within(4, 8);
      expect(await inTurnsOf(new Turns(() => 2), () => most(16))).to.be.within(1, 2);
    } finally {
      await close();
    }
  });
});
