import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import pg from "pg";
import { startIndexer } from "./support/indexerProcess.ts";
import { newWallet } from "./support/localChain.ts";
import { type LonelyIndexer, startLonelyIndexer } from "./support/lonelyIndexer.ts";

describe("an indexer whose Postgres loses its last commits", function () {
  this.timeout(600_000);
  this.slow(120_000);
  let node: LonelyIndexer;
  before(async () => {
    node = await startLonelyIndexer({ POINTS_PER_ADDRESS: "0" });
  });
  after(() => node?.close());

  // Postgres may run as a user of its own, who must own the copy too.
  const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);
  const head = () => node.chain.client.getBlockNumber();
  const served = async () => (await fetch(`${node.indexer.url}/ready`)).status === 200;

  /** The blocks of all ticks, and the number of lines in the log. */
  async function contentOf(schema: string) {
    const client = new pg.Client({ connectionString: node.environment.DATABASE_URL });
    await client.connect();
    try {
      const { rows } = await client.query(`SELECT block::int, digest FROM "${schema}".digest ORDER BY id`);
      const lines = await client.query(`SELECT count(*)::int AS n FROM "${schema}".event_log`);
      return { digests: rows, lines: lines.rows[0].n };
    } finally {
      await client.end();
    }
  }

  it("ends with an error, and continues from the database's own state when it is started again", async () => {
    const { chain, indexer, supervisor } = node;
    const data = path.join(node.folder, "postgres", "data");
    const [a, b] = [newWallet(), newWallet()];
    await chain.mint(a, 10_000_000n);
    await indexer.untilTick(await head());
    // The replica has this state, and takes over after five more blocks.
    await supervisor.stop("postgres");
    copy(data, `${data}.replica`);
    await node.restartPostgres();
    await indexer.until("the indexer to answer again", served);
    for (let n = 0; n < 5; n++) await chain.pay(a, b, 1_000_000n);
    const lost = await head();
    await indexer.untilTick(lost);
    await supervisor.stop("postgres");
    rmSync(data, { recursive: true });
    copy(`${data}.replica`, data);
    const ended = Promise.withResolvers<number | null>();
    supervisor.onExit(({ name, code }) => {
      if (name === "indexer") ended.resolve(code);
    });
    await node.restartPostgres();
    await chain.pay(a, b, 1_000_000n);
    await chain.client.mine({ blocks: 2 });
    const hold = setInterval(() => {}, 60_000);
    expect(await ended.promise.finally(() => clearInterval(hold))).to.not.equal(0);
    expect(indexer.log()).to.contain(`The database lacks block ${lost}, which this process wrote`);

    const again = await startIndexer(supervisor, node.folder, node.environment, "again");
    await again.untilTick(await head());
    const fresh = { ...node.environment, DATABASE_SCHEMA: "fresh" };
    const other = await startIndexer(supervisor, node.folder, fresh, "fresh");
    await other.untilTick(await head());
    expect(await contentOf("tallystick")).to.deep.equal(await contentOf("fresh"));
  });
});
