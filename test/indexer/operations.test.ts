import { expect } from "chai";
import pg from "pg";
import { type Operations, openOperations } from "../../indexer/operations.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("the operational state of an indexer", () => {
  const schema = "Ponder-Main";
  let pool: pg.Pool;
  let operations: Operations;

  before(async () => {
    const url = await testDatabase();
    pool = new pg.Pool({ connectionString: url, max: 4 });
    pool.on("error", () => {});
    operations = openOperations(url, schema);
    await pool.query(`CREATE SCHEMA "${schema}"`);
    await pool.query(`CREATE TABLE "${schema}"._ponder_meta (key text PRIMARY KEY, value jsonb NOT NULL)`);
    await pool.query(
      `INSERT INTO "${schema}"._ponder_meta VALUES ('app', '{"version": "6", "is_locked": 0}')`,
    );
  });
  after(async () => {
    await operations?.close();
    await pool?.end();
  });

  const limits = { withinMs: 60_000, everyMs: 20 };

  /** The process of Postgres in which the indexer waits for the lock. */
  function waiting(): Promise<number> {
    const waits = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    return waitUntil(
      async () => (await pool.query(waits, [`tallystick ops ${schema}`])).rows[0]?.pid as number | undefined,
      { what: "the indexer to wait for the lock", ...limits },
    );
  }

  it("takes the lock of the schema, even if its first connection is lost", async () => {
    const other = await pool.connect();
    await other.query(`BEGIN; SELECT * FROM "${schema}"._ponder_meta FOR UPDATE`);
    const held = operations.holdSchema(new AbortController().signal);
    held.catch(() => {});
    const pid = await waiting();
    await pool.query("SELECT pg_terminate_backend($1)", [pid]);
    const alive = "SELECT 1 FROM pg_stat_activity WHERE pid = $1";
    await waitUntil(async () => (await pool.query(alive, [pid])).rowCount === 0, {
      what: "the end of its connection",
      ...limits,
    });
    await other.query("ROLLBACK");
    other.release();
    await held;
    const { rows } = await pool.query(`SELECT value FROM "${schema}"._ponder_meta`);
    expect(rows[0]?.value).to.include({ version: "6", is_locked: 1 });
    expect(Date.now() - rows[0]?.value.heartbeat_at).to.be.within(0, 60_000);
  });

  it("leaves the lock of the schema open when its process ends", async () => {
    const lock = async () =>
      (await pool.query(`SELECT value FROM "${schema}"._ponder_meta`)).rows[0]?.value.is_locked;
    const open = `UPDATE "${schema}"._ponder_meta SET value = value || '{"is_locked": 0}'`;
    await pool.query(open);
    await operations.holdSchema(AbortSignal.abort());
    expect(await lock(), "a process that has begun to end").to.equal(0);
    const other = await pool.connect();
    await other.query(`BEGIN; ${open}`);
    const stop = new AbortController();
    const held = operations.holdSchema(stop.signal);
    held.catch(() => {});
    await waiting();
    // The process ends now, and Ponder opens the lock. The statement that takes the lock comes after it.
    stop.abort();
    await other.query("COMMIT");
    other.release();
    await held;
    expect(await lock(), "a process that ends meanwhile").to.equal(0);
  });
});
