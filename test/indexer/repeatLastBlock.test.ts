import { expect } from "chai";
import pg from "pg";
import { repeatLastBlock } from "../../indexer/repeatLastBlock.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { testDatabase } from "../support/testDatabase.ts";

const BLOCK = 26;

/** A checkpoint of Ponder: time, chain, block, transaction, kind of event, event. */
const checkpointOf = (block: number, rest: "0" | "9") =>
  `1767225600${"31337".padStart(16, "0")}${String(block).padStart(16, "0")}${rest.repeat(33)}`;
const whole = checkpointOf(BLOCK, "9");

describe("the block of Ponder's checkpoint, when an indexer starts", () => {
  let databaseUrl: string;
  let client: pg.Client;
  before(async () => {
    databaseUrl = await testDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
  });
  after(() => client?.end());
  beforeEach(async () => {
    await client.query(`
      DROP SCHEMA IF EXISTS node CASCADE;
      CREATE SCHEMA node;
      CREATE TABLE node._ponder_checkpoint (
        chain_name text, safe_checkpoint varchar(75), latest_checkpoint varchar(75), finalized_checkpoint varchar(75)
      );
      CREATE TABLE node.log_length (id text, lines bigint, block bigint);
      CREATE TABLE node.anchor (id text, block bigint);
      CREATE TABLE node.opened_ledger (id text, block bigint);
      INSERT INTO node._ponder_checkpoint VALUES ('main', '${whole}', '${whole}', '${whole}');
      INSERT INTO node.log_length VALUES ('last', 7, ${BLOCK - 1});
      INSERT INTO node.anchor VALUES ('a', ${BLOCK - 1});
      INSERT INTO node.opened_ledger VALUES ('a', ${BLOCK - 1});
    `);
  });

  const repeat = (databaseSchema = "node") => repeatLastBlock({ databaseUrl, databaseSchema });
  const checkpoints = async () => {
    const { rows } = await client.query("SELECT * FROM node._ponder_checkpoint");
    return [rows[0].safe_checkpoint, rows[0].latest_checkpoint, rows[0].finalized_checkpoint];
  };

  it("is read again when nothing of it is in the tables", async () => {
    expect(await repeat()).to.equal(BLOCK);
    expect(await checkpoints()).to.deep.equal([checkpointOf(BLOCK, "0"), whole, whole]);
    expect(await repeat()).to.equal(null);
  });

  for (const change of [
    `UPDATE node.log_length SET block = ${BLOCK}`,
    // The process was reading new blocks. Ponder takes them back to the checkpoint itself.
    `UPDATE node.log_length SET block = ${BLOCK + 5}`,
    `INSERT INTO node.anchor VALUES ('b', ${BLOCK})`,
    `INSERT INTO node.opened_ledger VALUES ('b', ${BLOCK})`,
    "DELETE FROM node._ponder_checkpoint",
    `UPDATE node._ponder_checkpoint SET safe_checkpoint = '${checkpointOf(BLOCK, "0")}'`,
  ]) {
    it(`is not read again after: ${change}`, async () => {
      await client.query(change);
      expect(await repeat()).to.equal(null);
    });
  }

  it("is not read again when another process is just writing it", async () => {
    const writer = new pg.Client({ connectionString: databaseUrl });
    await writer.connect();
    try {
      await writer.query(
        `BEGIN; UPDATE node.log_length SET block = ${BLOCK}; UPDATE node._ponder_checkpoint SET latest_checkpoint = '${whole}'`,
      );
      const repeated = repeat();
      const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'tallystick last block node'`;
      await waitUntil(async () => (await client.query(waits)).rows.length > 0, {
        what: "the other process to wait",
        withinMs: 60_000,
        everyMs: 20,
      });
      await writer.query("COMMIT");
      expect(await repeated).to.equal(null);
    } finally {
      await writer.end();
    }
    expect(await checkpoints()).to.deep.equal([whole, whole, whole]);
  });

  it("is left alone in a schema that no indexer of this version made", async () => {
    expect(await repeat("nobody")).to.equal(null);
    await client.query("ALTER TABLE node.log_length DROP COLUMN block");
    expect(await repeat()).to.equal(null);
    expect(await checkpoints()).to.deep.equal([whole, whole, whole]);
  });
});
