import { expect } from "chai";
import pg from "pg";
import { watchDatabase } from "../../indexer/databaseWatch.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("the watch on the database", () => {
  let client: pg.Client;
  let watch: ReturnType<typeof watchDatabase> | undefined;
  let databaseUrl: string;

  before(async () => {
    databaseUrl = await testDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(`CREATE SCHEMA live;
      CREATE TABLE live._ponder_meta (value jsonb);
      CREATE TABLE live._ponder_checkpoint (chain_name text, chain_id bigint, latest_checkpoint text);
      INSERT INTO live._ponder_meta VALUES ('{"is_ready": "1"}')`);
  });
  afterEach(() => watch?.close());
  after(() => client.end());

  const open = (databaseSchema: string) => {
    watch = watchDatabase({ databaseUrl, databaseSchema });
    return watch;
  };

  it("takes a database whose tables are locked for one that answers, because an upgrade locks them", async () => {
    const { goesAwayDuring } = open("live");
    await waitUntil(async () => watch?.isReady, { what: "the first answer", withinMs: 60_000, everyMs: 10 });
    await client.query("BEGIN; LOCK TABLE live._ponder_meta IN ACCESS EXCLUSIVE MODE");
    const locked = client.query("SELECT pg_sleep(4)");
    expect(await goesAwayDuring(locked)).to.equal(false);
    expect([watch?.isAway, watch?.isReady]).to.deep.equal([false, true]);
    await client.query("ROLLBACK");
  });

  it("takes a database without the tables for one that answers", async () => {
    const { goesAwayDuring } = open("not_there");
    expect(await goesAwayDuring(client.query("SELECT pg_sleep(1)"))).to.equal(false);
    expect([watch?.isAway, watch?.isReady]).to.deep.equal([false, false]);
  });
});
