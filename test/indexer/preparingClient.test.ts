import { expect } from "chai";
import pg from "pg";
import { preparingClient } from "../../indexer/preparingClient.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("a pool of preparing clients", () => {
  let databaseUrl: string;
  let pool: pg.Pool;

  before(async () => {
    databaseUrl = await testDatabase();
  });
  beforeEach(() => {
    pool = new pg.Pool({ connectionString: databaseUrl, max: 1, Client: preparingClient() });
  });
  afterEach(() => pool.end());

  /** Sends a statement in the form in which drizzle sends it. */
  const ask = (text: string, ...values: unknown[]) => pool.query({ text, values });
  const prepared = async () => {
    const { rows } = await pool.query("SELECT statement FROM pg_prepared_statements ORDER BY 1");
    return rows.map(({ statement }) => statement);
  };
  const times = async (count: number, work: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < count; n++) await work(n);
  };

  it("prepares only statements that are used often", async () => {
    const often = "SELECT $1::int + 1 AS next";
    await times(10, (n) => ask(often, n));
    await ask("SELECT 'once'");
    expect(await prepared()).to.deep.equal([]);
    expect((await ask(often, 41)).rows).to.deep.equal([{ next: 42 }]);
    expect(await prepared()).to.deep.equal([often]);
  });

  it("keeps at most a hundred prepared statements", async () => {
    await times(120, (n) => times(11, () => ask(`SELECT ${n} AS n`)));
    expect(await prepared()).to.have.length(100);
    expect((await ask("SELECT 119 AS n")).rows).to.deep.equal([{ n: 119 }]);
  });

  it("keeps at most two hundred statements with names of their own, and answers the others", async () => {
    const before = (await prepared()).length;
    await times(210, async (n) => {
      const { rows } = await pool.query({ name: `own ${n}`, text: `SELECT ${n} AS own`, values: [] });
      expect(rows).to.deep.equal([{ own: n }]);
    });
    expect((await prepared()).length - before).to.be.at.most(200);
    expect((await pool.query({ name: "own 209", text: "SELECT 209 AS own" })).rows).to.deep.equal([
      { own: 209 },
    ]);
  });

  it("keeps answering after a view is replaced with other columns, for named and new statements", async () => {
    await pool.query("CREATE VIEW seen AS SELECT 1 AS one");
    const askBoth = async () => {
      const [kept, named] = [await ask("SELECT * FROM seen"), { name: "mine", text: "TABLE seen" }];
      return [kept.rows, (await pool.query(named)).rows];
    };
    await times(12, askBoth);
    expect(await prepared()).to.include.members(["SELECT * FROM seen", "TABLE seen"]);
    await pool.query("DROP VIEW seen; CREATE VIEW seen AS SELECT 2 AS two, 3 AS three");
    const anew = [{ two: 2, three: 3 }];
    expect(await askBoth()).to.deep.equal([anew, anew]);
    // The statement is prepared again. So the additional statement is necessary only once.
    expect(await askBoth()).to.deep.equal([anew, anew]);
    expect((await prepared()).filter((it) => it === "TABLE seen")).to.have.length(2);
  });

  it("passes errors on", async () => {
    await times(10, () => ask("SELECT 1 / $1::int AS part", 1));
    for (const divisor of [0, 0]) {
      const error = await ask("SELECT 1 / $1::int AS part", divisor).then(
        () => null,
        (it) => it,
      );
      expect(error?.code).to.equal("22012");
    }
    expect((await ask("SELECT 1 / $1::int AS part", 1)).rows).to.deep.equal([{ part: 1 }]);
  });
});
