import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { dropOld, dropSchema } from "../../../scripts/upgrade/dropSchema.ts";
import { contentOf, liveSchema } from "../../../scripts/upgrade/indexerState.ts";
import { makeViews } from "../../../scripts/upgrade/makeViews.ts";
import { openUpgradeSession, type UpgradeSession } from "../../../scripts/upgrade/openUpgradeSession.ts";
import { viewNames } from "../../../scripts/upgrade/schemaNames.ts";
import { clearWay, switchViews } from "../../../scripts/upgrade/switchViews.ts";
import { type UpgradeParameters, upgrade } from "../../../scripts/upgrade/upgrade.ts";
import { startUpgrade } from "../../indexer/support/upgradeProcess.ts";
import { keepReports } from "./support/keepReports.ts";
import { type IndexerState, writeIndexer, writeIndexerState } from "./support/writtenIndexers.ts";

/** The steps of an upgrade on a real Postgres. The test itself writes the rows that indexers keep there. */
describe("scripts/upgrade", () => {
  const views = viewNames("tallystick_live");
  let supervisor: Supervisor;
  let newDatabase: (name: string) => Promise<string>;
  let databaseUrl: string;
  let client: pg.Client;
  /** `session` gives the running indexers a new heartbeat before each look at them; `opened` does not. */
  let opened: UpgradeSession;
  let session: UpgradeSession;
  let signal: AbortSignal;
  let stop: AbortController;
  let databases = 0;

  before(async () => {
    supervisor = await openSupervisor();
    newDatabase = (await startPostgres({ supervisor })).createDatabase;
  });
  after(() => supervisor?.close());
  beforeEach(async () => {
    databaseUrl = await newDatabase(`upgrade_${databases++}`);
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    opened = await openUpgradeSession({ databaseUrl, views: views.live });
    session = { ...opened, query: withBeats };
    stop = new AbortController();
    signal = stop.signal;
    await indexer("tallystick_v1", {});
    await makeViews(session, "tallystick_v1", views, signal);
  });
  afterEach(async () => {
    await session.close();
    await client.end();
  });

  const withBeats: UpgradeSession["query"] = async (sql, values) => {
    const [, schema] = /FROM "(\w+)"\._ponder_meta LIMIT 1/.exec(sql) ?? [];
    if (schema !== undefined)
      await client.query(`UPDATE ${schema}._ponder_meta
        SET value = value || jsonb_build_object('heartbeat_at', (value->>'heartbeat_at')::int8 + 1) WHERE value->>'is_locked' = '1'`);
    return opened.query(sql, values);
  };

  const indexer = (schema: string, state: IndexerState) => writeIndexer(client, schema, state);
  const stands = (schema: string, state: IndexerState) => writeIndexerState(client, schema, state);

  const { told, report } = keepReports();

  function run(more: Partial<UpgradeParameters> = {}) {
    return upgrade({
      session,
      report: report(),
      databaseUrl,
      views: views.live,
      nextFor: () => "tallystick_v2",
      startIndexer: undefined,
      replicas: [],
      force: false,
      rulesChanged: false,
      withinMs: 120_000,
      signal,
      patience: { reorgMs: 0 },
      ...more,
    });
  }

  const live = () => liveSchema(session.query, views.live);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => "nothing was refused",
      (error) => (error instanceof TallystickError ? error.code : String(error)),
    );

  it("switches when the new indexer has every block and tick of the old one, and not before", async () => {
    await indexer("tallystick_v2", { ready: false, block: 5, digests: { 5: "0x5" } });
    const states: IndexerState[] = [
      { ready: false, block: 30, digests: { 10: "0xa", 20: "0xb", 30: "0xc" } },
      { block: 19, digests: { 10: "0xa" } },
      { block: 20, digests: { 10: "0xa" } },
      { block: 30, digests: { 10: "0xa", 20: "0xb", 30: "0xc" } },
    ];
    const seen: (string | undefined)[] = [];
    let next: Promise<unknown> = Promise.resolve();
    const onTell = () => {
      next = next.then(async () => {
        seen.push(await liveSchema((sql, values) => client.query(sql, values), views.live));
        const state = states.shift();
        if (state) await stands("tallystick_v2", state);
      });
    };
    const outcome = await run({ report: report(onTell) });
    await next;
    expect(new Set(seen)).to.deep.equal(new Set(["tallystick_v1"]));
    expect(states).to.deep.equal([]);
    expect(outcome).to.deep.equal({
      live: "tallystick_v1",
      next: "tallystick_v2",
      switched: true,
      replicasError: undefined,
    });
    expect(told.find(({ step }) => step === "catching-up")?.fields).to.include({
      block: 5,
      liveBlock: 20,
      behind: 15,
    });
    expect(told.find(({ step }) => step === "digests")?.fields).to.deep.equal({
      block: 20,
      old: "0xb",
      new: "0xb",
    });
    expect(await live()).to.equal("tallystick_v2");
    expect(await liveSchema(session.query, views.before)).to.equal("tallystick_v1");
    // A second run finds that nothing is left to do.
    expect(await run()).to.include({ switched: false, replicasError: undefined });
    // The same command also switches back.
    expect(await codeOf(run({ nextFor: () => "tallystick_v1", withinMs: 1 }))).to.equal("wait_timeout");
    await stands("tallystick_v1", { block: 30, digests: { 30: "0xc" } });
    expect(await run({ nextFor: () => "tallystick_v1" })).to.include({ switched: true });
    expect(await live()).to.equal("tallystick_v1");
  });

  it("stops at a digest that differs or cannot be compared, unless the rules changed", async () => {
    await indexer("tallystick_v2", { digests: { 10: "0xa", 20: "0xother" } });
    expect(await codeOf(run())).to.equal("digest_differs");
    expect(await live()).to.equal("tallystick_v1");
    await stands("tallystick_v2", { digests: { 11: "0xa", 21: "0xb" } });
    expect(await codeOf(run())).to.equal("no_common_tick");
    expect(await live()).to.equal("tallystick_v1");
    await stands("tallystick_v2", { digests: { 20: "0xother" } });
    expect(await run({ rulesChanged: true })).to.include({ switched: true });
    expect(told.find(({ step }) => step === "digests")?.fields).to.deep.equal({
      block: 20,
      old: "0xb",
      new: "0xother",
    });
  });

  it("waits for a digest that a reorganisation will change", async () => {
    await indexer("tallystick_v2", { digests: { 20: "0xother" } });
    let looks = 0;
    const between = {
      ...session,
      query: async (sql: string, values?: unknown[]) => {
        if (sql.includes("JOIN") && sql.includes(".digest AS b") && ++looks === 2)
          await stands("tallystick_v2", {});
        return session.query(sql, values);
      },
    };
    expect(await run({ session: between, patience: { reorgMs: 60_000 } })).to.include({ switched: true });
    expect(looks).to.equal(2);
  });

  it("refuses the build that is already live, unless forced", async () => {
    await indexer("tallystick_v2", { build: "tallystick_v1" });
    expect(await codeOf(run())).to.equal("same_build");
    expect(await live()).to.equal("tallystick_v1");
    expect(await run({ force: true })).to.include({ switched: true });
  });

  it("ends when the new indexer ends, when the time is over, and when it is told to stop", async () => {
    await indexer("tallystick_v2", { ready: false });
    const onTell = () => void stands("tallystick_v2", { ready: false, locked: false });
    expect(await codeOf(run({ report: report(onTell) }))).to.equal("indexer_ended");
    await stands("tallystick_v2", { ready: false });
    expect(await codeOf(run({ session: opened, patience: { silentMs: 0 } }))).to.equal("indexer_ended");
    expect(await codeOf(run({ withinMs: 1 }))).to.equal("wait_timeout");
    const wish = new Error("stopped");
    const stopped = run({ report: report(() => stop.abort(wish)) });
    expect(await stopped.catch((error) => error)).to.equal(wish);
    expect(await live()).to.equal("tallystick_v1");
  });

  it("does not start an indexer into a schema that somebody writes to", async () => {
    await indexer("tallystick_v2", {});
    let started = 0;
    const startIndexer = async () => void started++;
    expect(await codeOf(run({ startIndexer }))).to.equal("schema_in_use");
    expect(started).to.equal(0);
    // A crashed indexer leaves its lock, and has no new heartbeat.
    await client.query(`UPDATE tallystick_v2._ponder_meta SET value = value || '{"heartbeat_at": 1}'`);
    expect(await run({ startIndexer })).to.include({ switched: true });
    expect(started).to.equal(1);
  });

  it("does not treat tables after a crash as complete: the next indexer there removes a part of them", async () => {
    await indexer("tallystick_v2", {});
    for (const locked of [true, false]) {
      await stands("tallystick_v2", { locked });
      expect(await codeOf(run({ session: opened, withinMs: 1 }))).to.equal("wait_timeout");
      expect(await live()).to.equal("tallystick_v1");
    }
    expect(
      await switchViews(opened, { live: "tallystick_v1", next: "tallystick_v2" }, views, signal),
    ).to.equal(false);
  });

  it("reports an indexer that writes without the lock, instead of waiting for the lock", async () => {
    await indexer("tallystick_v2", { locked: false });
    const beat = () =>
      void client.query(
        `UPDATE tallystick_v2._ponder_meta SET value = value || jsonb_build_object('heartbeat_at', (value->>'heartbeat_at')::int8 + 1)`,
      );
    expect(await codeOf(run({ report: report(beat) }))).to.equal("indexer_without_lock");
    expect(told.find(({ step }) => step === "catching-up")?.fields).to.include({ missing: "heartbeat" });
    expect(await live()).to.equal("tallystick_v1");
  });

  it("never lets answers go back by a block, while the chain grows or after a restart of the old indexer", async () => {
    await indexer("tallystick_v2", { block: 19, digests: { 10: "0xa" } });
    let block = 20;
    const onTell = () => {
      block++;
      void stands("tallystick_v1", { block }).then(() => stands("tallystick_v2", { block: block - 1 }));
    };
    expect(await codeOf(run({ report: report(onTell), withinMs: 1_200 }))).to.equal("wait_timeout");
    expect(told.at(-1)?.fields).to.include({ missing: "blocks" });
    expect(await live()).to.equal("tallystick_v1");
    // When Ponder starts, it takes the last blocks back. The chain has no new block meanwhile.
    const startAgain = () => void stands("tallystick_v1", { ready: false, digests: { 10: "0xa" } });
    await stands("tallystick_v2", { ready: false });
    const ready = report(() => {
      startAgain();
      void stands("tallystick_v2", {});
    });
    expect(await run({ report: ready })).to.include({ switched: true });
    expect(told.find(({ step }) => step === "digests")?.fields).to.include({ block: 10 });
  });

  it("ends when the tables of the old or the new indexer are dropped meanwhile", async () => {
    await indexer("tallystick_v2", { ready: false });
    /** Drops a schema between two looks. */
    const drop = (schema: string) => {
      let isDue = false;
      const query: UpgradeSession["query"] = async (sql, values) => {
        if (isDue) await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        return session.query(sql, values);
      };
      const onTell = () => {
        isDue = true;
      };
      return { report: report(onTell), session: { ...session, query } };
    };
    expect(await codeOf(run({ ...drop("tallystick_v2"), patience: { silentMs: 500 } }))).to.equal(
      "indexer_ended",
    );
    await indexer("tallystick_v2", { ready: false });
    expect(await codeOf(run(drop("tallystick_v1")))).to.equal("live_schema_gone");
  });

  it("does not fail when the database is away for a moment right after the switch", async () => {
    await indexer("tallystick_v2", {});
    let cuts = 0;
    const query: UpgradeSession["query"] = async (sql, values) => {
      if (String(values?.[0]).endsWith("_watch") && ++cuts <= 2)
        throw Object.assign(new Error("away"), { code: "57P01" });
      return session.query(sql, values);
    };
    expect(await run({ session: { ...session, query } })).to.include({ replicasError: undefined });
    expect(cuts).to.equal(4);
  });

  it("does not treat an indexer as stopped while the database is away", async () => {
    await indexer("tallystick_v2", { ready: false });
    let looks = 0;
    const away = {
      ...opened,
      query: async (sql: string, values?: unknown[]) => {
        if (values?.[0] === '"tallystick_v2"._ponder_meta') looks++;
        // The first three looks succeed: two before the wait begins, and the first look of the wait.
        if (looks > 3 && looks <= 7) throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
        if (looks === 9) await stands("tallystick_v2", {});
        return opened.query(sql, values);
      },
    };
    expect(await run({ session: away, patience: { silentMs: 1_000 } })).to.include({ switched: true });
  });

  it("allows one upgrade at a time, and the next after the first is gone", async () => {
    expect(await codeOf(openUpgradeSession({ databaseUrl, views: views.live }))).to.equal("upgrade_running");
    // Other views of the same database can be upgraded at the same time.
    await (await openUpgradeSession({ databaseUrl, views: "other_live" })).close();
    await session.close();
    await (await openUpgradeSession({ databaseUrl, views: views.live })).close();
  });

  it("continues when its connection is lost, and takes its lock again", async () => {
    await indexer("tallystick_v2", { ready: false });
    let lost = false;
    const onTell = () => {
      if (lost) return;
      lost = true;
      void client
        .query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tallystick upgrade%'",
        )
        .then(() => stands("tallystick_v2", {}));
    };
    expect(await run({ report: report(onTell) })).to.include({ switched: true });
    expect(await codeOf(openUpgradeSession({ databaseUrl, views: views.live }))).to.equal("upgrade_running");
  });

  it("does not wait for readers, and retries while somebody locks the new tables", async () => {
    await indexer("tallystick_v2", {});
    await client.query("BEGIN; SELECT * FROM tallystick_live.state; SELECT * FROM tallystick_v2.state");
    expect(
      await switchViews(session, { live: "tallystick_v1", next: "tallystick_v2" }, views, signal),
    ).to.equal(true);
    await client.query("ROLLBACK");
    // The views are switched already, as if the connection broke before the earlier answer arrived.
    expect(
      await switchViews(session, { live: "tallystick_v1", next: "tallystick_v2" }, views, signal),
    ).to.equal(true);

    await clearWay(session, views, signal);
    await client.query("BEGIN; LOCK TABLE tallystick_v1.digest IN ACCESS EXCLUSIVE MODE");
    let tries = 0;
    const counting = {
      ...session,
      transaction: async <T>(work: (query: UpgradeSession["query"]) => Promise<T>) => {
        if (++tries === 2) await client.query("ROLLBACK");
        return session.transaction(work);
      },
    };
    expect(
      await switchViews(counting, { live: "tallystick_v2", next: "tallystick_v1" }, views, signal),
    ).to.equal(true);
    expect(tries).to.equal(2);
    expect(await live()).to.equal("tallystick_v1");
  });

  it("does not switch when the new indexer has fallen back since the last check", async () => {
    await indexer("tallystick_v2", { block: 19, digests: { 10: "0xa" } });
    expect(
      await switchViews(session, { live: "tallystick_v1", next: "tallystick_v2" }, views, signal),
    ).to.equal(false);
    expect(await live()).to.equal("tallystick_v1");
    expect(await contentOf(session.query, views.next)).to.equal(undefined);
  });

  it("does not switch views that somebody else switched while the connection was lost", async () => {
    await indexer("tallystick_v2", {});
    const stale = { live: "tallystick_v0", next: "tallystick_v2" };
    expect(await codeOf(switchViews(session, stale, views, signal))).to.equal("switched_meanwhile");
    expect(await live()).to.equal("tallystick_v1");
  });

  it("renames and drops only schemas that have nothing except views", async () => {
    await client.query("CREATE SCHEMA tallystick_before; CREATE TABLE tallystick_before.diary (id int)");
    await indexer("tallystick_v2", {});
    expect(await codeOf(run())).to.equal("not_views");
    expect(await codeOf(run({ views: "tallystick_v2" }))).to.equal("not_views");
    expect(await codeOf(run({ views: "nowhere_live" }))).to.equal("no_views");
    expect(await codeOf(dropOld(session, views, signal))).to.equal("not_views");
    expect(await live()).to.equal("tallystick_v1");
  });

  it("creates the first views once", async () => {
    expect(await makeViews(session, "tallystick_v1", views, signal)).to.equal(false);
    await indexer("tallystick_v2", {});
    expect(await codeOf(makeViews(session, "tallystick_v2", views, signal))).to.equal("views_exist");
    expect(await codeOf(makeViews(session, "nowhere", views, signal))).to.equal("no_such_schema");
  });

  it("drops the remains of an upgrade, and nothing that somebody needs", async () => {
    const drop = (schema: string) => dropSchema(session, schema, views, signal);
    expect(await drop("nowhere")).to.equal(false);
    await stands("tallystick_v1", { locked: false });
    expect(await codeOf(drop("tallystick_v1"))).to.equal("schema_is_read");
    // The live views still read it, although the caller names other views.
    expect(await codeOf(dropSchema(session, "tallystick_v1", viewNames("mistaken"), signal))).to.equal(
      "schema_is_read",
    );
    await indexer("tallystick_v2", {});
    expect(await codeOf(drop("tallystick_v2"))).to.equal("schema_in_use");
    await stands("tallystick_v2", { locked: false });
    await client.query("CREATE TABLE tallystick_v2.diary (id int)");
    expect(await codeOf(drop("tallystick_v2"))).to.equal("not_an_indexers");
    await client.query("DROP TABLE tallystick_v2.diary");
    expect(await drop("tallystick_v2")).to.equal(true);
    expect(await drop("tallystick_v2")).to.equal(false);
    await client.query("CREATE SCHEMA tallystick_v3");
    expect(await drop("tallystick_v3")).to.equal(true);
    await client.query("CREATE SCHEMA books; CREATE TABLE books.state (id int)");
    expect(await codeOf(drop("books"))).to.equal("not_an_indexers");
  });

  it("does not drop tables while a process reads them", async () => {
    await indexer("tallystick_v2", {});
    await run();
    await stands("tallystick_v1", { locked: false });
    const replica = new pg.Client({
      connectionString: databaseUrl,
      application_name: "tallystick_v1_watch",
    });
    await replica.connect();
    try {
      const error = await dropOld(session, views, signal).catch((it) => it);
      expect(error.code).to.equal("schema_in_use");
      expect(error.message).to.contain("The tables of tallystick_v1 are read directly");
    } finally {
      await replica.end();
    }
    expect(await dropOld(session, views, signal)).to.deep.equal(["tallystick_v1", "tallystick_before"]);
  });

  it("does not drop what the settings name", async () => {
    await indexer("tallystick_v2", {});
    await run();
    await stands("tallystick_v1", { locked: false });
    const folder = await mkdtemp(path.join(tmpdir(), "upgrade-"));
    const envFile = path.join(folder, ".env");
    const command = async (schema: string, ...args: string[]) => {
      const settings = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema, RPC_URL: "http://127.0.0.1:9" };
      const more = {
        ...{ CHAIN_ID: "31337", START_BLOCK: "0", TOKEN_ADDRESS: `0x${"70".repeat(20)}` },
        ...{ ANCHORED_LEDGER: `0x${"71".repeat(20)}`, LEDGERS: `0x${"01".repeat(32)}=http://127.0.0.1:9` },
      };
      const lines = Object.entries({ ...settings, ...more }).map(([name, value]) => `${name}=${value}\n`);
      await writeFile(envFile, lines.join(""));
      const started = startUpgrade(["--env-file", envFile, ...args]);
      return { code: await started.exit, said: started.said() };
    };
    const isThere = async () => {
      const { rows } = await client.query("SELECT to_regnamespace('tallystick_v1') IS NOT NULL AS there");
      return rows[0].there;
    };
    // Only one upgrade works on the views at a time.
    await session.close();
    try {
      const refused = await command("tallystick_v1", "--drop-old");
      expect(refused.code).to.equal(1);
      expect(refused.said).to.contain("schema_of_settings");
      expect(await isThere()).to.equal(true);
      const { code, said } = await command("tallystick_v2", "--drop-old");
      expect(code, said).to.equal(0);
      expect(await isThere()).to.equal(false);
    } finally {
      opened = await openUpgradeSession({ databaseUrl, views: views.live });
      session = opened;
      await rm(folder, { recursive: true });
    }
  });

  it("drops the old tables with the views on them, once, and continues after it was killed", async () => {
    expect(await dropOld(session, views, signal)).to.deep.equal([]);
    await indexer("tallystick_v2", {});
    await run();
    expect(await codeOf(dropOld(session, views, signal))).to.equal("schema_in_use");
    await stands("tallystick_v1", { locked: false });
    // The state after a kill between the two steps.
    expect(await dropSchema(session, "tallystick_v1", views, signal)).to.equal(true);
    expect(await dropOld(session, views, signal)).to.deep.equal(["tallystick_before"]);
    expect(await dropOld(session, views, signal)).to.deep.equal([]);
    expect(await live()).to.equal("tallystick_v2");
  });
});
