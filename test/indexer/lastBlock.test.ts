import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import pg from "pg";
import { bindBody } from "tallystick-protocol/records/binding";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { testDatabase } from "../support/testDatabase.ts";
import { startIndexer } from "./support/indexerProcess.ts";
import { CHAIN_ID, newWallet, startLocalChain } from "./support/localChain.ts";
import { openOnChain, TestLedger } from "./support/testLedger.ts";

/** Ponder reads the history in parts. Its first part has this many blocks after the first one. */
const FIRST_PART = 25;

/** Ponder counts a block of this chain as final when so many follow it. */
const FINAL_UNDER = 30;

describe("an indexer that is killed at the last block of the history", function () {
  this.timeout(600_000);
  this.slow(120_000);
  let folder: string;
  let supervisor: Supervisor;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-last-block-"));
    supervisor = await openSupervisor();
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("reads the events of that block when it is started again", async () => {
    const chain = await startLocalChain(supervisor, folder);
    const [seller, writer] = [newWallet(), newWallet()];
    const { id, anchor } = await openOnChain(chain, writer, "test.local/last");
    const ledger = new TestLedger();
    const listing = {
      agent_id: seller.address,
      capability: "text.translate",
      endpoint: "https://seller.example",
      max_latency_ms: 1000,
      price_usdc: "0.50",
    };
    await ledger.sign(seller, "listing", bindBody(listing, { type: "listing", ledger: id }));
    const head = () => chain.client.getBlockNumber();
    await chain.mine(FIRST_PART - Number(await head()));
    await anchor(ledger);
    expect(await head()).to.equal(BigInt(FIRST_PART + 1));
    await chain.mine(FINAL_UNDER);

    const place = path.join(folder, "ledger");
    const databaseUrl = await testDatabase();
    const environment = {
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      ANCHORED_LEDGER: chain.anchoredLedger,
      LEDGERS: `${id}=${place}`,
      TICK_BLOCKS: "1",
    };
    // The first part ends one block before the last block. The entries of that block's anchor are not there yet.
    const killed = await startIndexer(supervisor, folder, environment, "killed");
    const isBlocked = async () => {
      const { meta } = await killed.query<{ meta: { blockedAtSegment: object | null } }>(
        "{ meta { blockedAtSegment { block } } }",
      );
      return meta.blockedAtSegment ?? undefined;
    };
    expect(await killed.until("the wait for the entries", isBlocked)).to.deep.equal({
      block: FIRST_PART + 1,
    });
    killed.kill();
    await ledger.save(place);

    const again = await startIndexer(supervisor, folder, environment, "again");
    await again.untilTick(await head());
    const fresh = await startIndexer(
      supervisor,
      folder,
      { ...environment, DATABASE_SCHEMA: "fresh" },
      "fresh",
    );
    await fresh.untilTick(await head());
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const logOf = async (schema: string) =>
        (await client.query(`SELECT position, json FROM ${schema}.event_log ORDER BY position`)).rows;
      const log = await logOf("fresh");
      expect(log.filter(({ json }) => json.includes('"kind":"record"'))).to.have.length(1);
      expect(await logOf("tallystick")).to.deep.equal(log);
    } finally {
      await client.end();
    }
  });
});
