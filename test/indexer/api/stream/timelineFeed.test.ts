import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { positionOf } from "../../../../indexer/api/stream/position.ts";
import { createTimelineFeed, type TimelineFeed } from "../../../../indexer/api/stream/timelineFeed.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { momentsOf, timelineKey } from "../../../../indexer/src/timeline.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { changesOf } from "../../support/changesOf.ts";

const [FIRST, SECOND, SELLER, BUYER] = [wallet(1), wallet(2), wallet(3), wallet(4)];

type TimelineRow = typeof schema.timeline.$inferInsert;

/** The hash of a block of the test, on a branch of the chain. */
const hashOf = (branch: string) => `0x${branch.repeat(32)}`;

/** A hire and a change of a tier, with their rows. */
async function story() {
  const log = new EventLog({ tier2MinSuccesses: 1, tier2MinCapabilities: 1 });
  log.after(1).listing(SELLER, "text.task");
  log.after(1).hire(SELLER, BUYER);
  log.after(1).hire(SELLER, BUYER);
  const store = new MemoryStore();
  const rows: TimelineRow[] = [];
  for (const [n, event] of log.events.entries()) {
    const position = `${String(event.block).padStart(12, "0")}/00000000/${String(n).padStart(16, "0")}`;
    for (const moment of momentsOf(await changesOf(store, event))) {
      rows.push({ position: timelineKey(position, rows.length), blockHash: hashOf("aa"), ...moment });
    }
  }
  return { store, rows };
}

describe("the feed of the timeline", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let rows: TimelineRow[];
  let feed: TimelineFeed;
  let told: (string | null)[];
  let leave: () => void;
  let blocks = 0;

  const finalAt = (block: number) =>
    database.pool.query("UPDATE _ponder_checkpoint SET finalized_checkpoint = $1", [
      `${"0".repeat(26)}${String(block).padStart(16, "0")}${"9".repeat(33)}`,
    ]);

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    await database.pool.query("INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ('0')");
    const made = await story();
    rows = made.rows;
    await database.fill(made.store);
    await database.database.insert(schema.timeline).values(rows);
  });
  after(() => database?.close());

  beforeEach(async () => {
    await finalAt(0);
    // The tests poll themselves.
    feed = createTimelineFeed({ db: database.db, everyMs: 1_000_000 });
    told = [];
    leave = feed.subscribe((reorg) => told.push(reorg === null ? null : reorg.position));
    await feed.poll();
  });
  afterEach(() => leave());

  /** Another block is indexed, and its changes are read. */
  async function nextBlock(sql: string, values: unknown[] = []): Promise<void> {
    await database.pool.query(sql, values);
    await database.pool.query("UPDATE _ponder_checkpoint SET latest_checkpoint = $1", [String(++blocks)]);
    await feed.poll();
  }

  const messages = async () => (await feed.after("0", 1_000)).map(({ text }) => JSON.parse(text));

  it("tells a reorganization if another auditor is drawn at the same position", async () => {
    const assigned = {
      ...{ id: "h/1/1", hire: "h", audit: "h", round: 1, attempt: 1, operator: BUYER, auditor: FIRST },
      ...{ auditorType: "auditor", models: null, passedOver: "", clusters: "{}", families: "{}", host: "" },
      ...{ verdict: null, reasons: null, record: null, verdictTime: null, fee: 0n, block: 900, time: 900 },
    };
    await database.database.insert(schema.auditAssignment).values(assigned as never);
    const last = positionOf(rows.at(-1) as TimelineRow);
    const position = timelineKey(`${"900".padStart(12, "0")}/99999999/${"0".repeat(16)}`, 0);
    const moment = { kind: "audit_assigned", subject: "h/1/1", agent: FIRST, counterpart: BUYER };
    const row = { position, blockHash: hashOf("aa"), ...moment };
    await database.database.insert(schema.timeline).values(row);
    await feed.poll();
    expect(told.splice(0)).to.deep.equal([null]);
    await database.pool.query("UPDATE audit_assignment SET auditor = $1", [SECOND]);
    const moved = "UPDATE timeline SET agent = $1, block_hash = $2 WHERE kind = 'audit_assigned'";
    await nextBlock(moved, [SECOND, hashOf("bb")]);
    expect(told).to.deep.equal([last]);
    const [again] = await feed.after(last, 10);
    expect(again).to.deep.include({
      position: positionOf({ ...row, blockHash: hashOf("bb") }),
      agent: SECOND,
    });
    expect(JSON.parse(again?.text ?? "").data.auditor).to.equal(SECOND);
    await database.database.delete(schema.auditAssignment);
    await nextBlock("DELETE FROM timeline WHERE kind = 'audit_assigned'");
  });

  it("tells a reorganization if an agent gets another tier at the same position", async () => {
    const n = rows.findIndex(({ kind }) => kind === "tier_change");
    await database.pool.query('UPDATE tier_change SET "to" = 1');
    await nextBlock("UPDATE timeline SET block_hash = $1 WHERE kind = 'tier_change'", [hashOf("bb")]);
    expect(told).to.deep.equal([positionOf(rows[n - 1] as TimelineRow)]);
    expect((await messages())[n].data.to).to.equal(1);
    database.statements = 0;
    await nextBlock("SELECT 1");
    expect(told).to.have.length(1);
    // The events of blocks that still stand are not read again.
    expect(database.sent.filter(({ query }) => query.includes("tier_change"))).to.deep.equal([]);
  });

  it("tells nothing if a later event changes a hire", async () => {
    await nextBlock("UPDATE hire SET outcome = 'failure', evidence = 'audit', capability = 'other'");
    expect(told).to.deep.equal([]);
  });

  it("tells nothing if a node that indexed again names other blocks in what was final", async () => {
    await finalAt(999_999_999);
    await feed.poll();
    for (const branch of ["cc", "22"]) {
      const before = feed.head();
      await nextBlock("UPDATE timeline SET block_hash = $1", [hashOf(branch)]);
      expect(told).to.deep.equal([]);
      // A client that has everything gets nothing again, and a new client continues from a position that stands.
      expect(await feed.after(before, 10)).to.deep.equal([]);
      expect(feed.head()).to.not.equal(before);
      expect(await feed.resumeFrom(feed.head())).to.equal(feed.head());
    }
  });
});
