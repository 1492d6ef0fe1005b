import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Hono } from "hono";
import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import { settle as settleTask } from "tallystick-sdk/settle";
import { privateKeyToAccount } from "viem/accounts";
import { type PostgresServer, startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { readConfig } from "../../../services/settlement/config.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { openService, type SettlementService } from "../../../services/settlement/service.ts";
import { type Flush, flushAfter } from "../../../services/settlement/standby/flush.ts";
import { postgresStore, STORE_SCHEMA } from "../../../services/settlement/standby/postgresStore.ts";
import { shareLedger } from "../../../services/settlement/standby/shareLedger.ts";
import { signReceipts } from "../../../tools/bench/ledger/signedReceipts.ts";
import { type CuttingProxy, cuttingProxy } from "../../../tools/bench/standby/cuttingProxy.ts";
import { openRpcProxy } from "../../sdk/support/rpcProxy.ts";
import { startSdkChain } from "../../sdk/support/sdkChain.ts";
import { bound } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const KEY = `0x${"55".repeat(32)}` as const;
const operator = privateKeyToAccount(`0x${"77".repeat(32)}`);

/** So long that no machine loses its lease because it is slow. Where a lease has to end, the test gives a short one. */
const LEASE_SECONDS = 60;

/** A lease that ends while a test waits. */
const SHORT_SECONDS = 2;

/** From now on no disk has room for a held proposal, but entries of a ledger still fit. Returns a function that ends this. */
async function fillDisks(): Promise<() => void> {
  const file = await openFile(process.execPath);
  await file.close();
  const methods = Object.getPrototypeOf(file) as Pick<FileHandle, "appendFile">;
  const { appendFile } = methods;
  methods.appendFile = async function (this: FileHandle, ...given) {
    if (String(given[0]).includes('"shadow"')) throw new Error("ENOSPC: no space left on device, write");
    await appendFile.apply(this, given);
  };
  return () => {
    methods.appendFile = appendFile;
  };
}

/** One machine: the result of opening its service, and its log. */
type Machine = {
  name: string;
  service?: SettlementService;
  standby?: Hono;
  failures: Error[];
  logged: string[];
  proxy: CuttingProxy;
  close: () => Promise<void>;
};

describe("machines that share a ledger", () => {
  const folder = temporaryFolder();
  let postgres: PostgresServer;
  let database: pg.Client;
  let url: string;
  const machines = new Set<Machine>();
  before(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase("standby");
    database = new pg.Client({ connectionString: url });
    await database.connect();
  });
  after(async () => {
    await database?.end();
    await postgres?.stop();
  });
  afterEach(async () => {
    for (const machine of machines) await machine.close();
    machines.clear();
    await database.query(`DROP SCHEMA IF EXISTS ${STORE_SCHEMA} CASCADE`);
  });

  const sql = (text: string) => database.query(text);
  function storeOf(ledger: "local" | `0x${string}` = "local", leaseMs = LEASE_SECONDS * 1_000) {
    const store = postgresStore({ url, key: fromHex(KEY), ledger, leaseMs, log: () => {} });
    return {
      ...store,
      commit: patiently(store.commit),
      flushesFrom: patiently(store.flushesFrom),
      begin: patiently(store.begin),
      lease: patiently(store.lease),
      standBy: patiently(store.standBy),
      release: patiently(store.release),
      putHeld: patiently(store.putHeld),
      heldIds: patiently(store.heldIds),
      held: patiently(store.held),
    };
  }
  /** Repeats a call that misses the store's deadlines on a slow machine. The store allows this. */
  function patiently<A extends unknown[], R>(call: (...given: A) => Promise<R>) {
    return async (...given: A): Promise<R> => {
      for (let left = 20; ; left--) {
        try {
          return await call(...given);
        } catch (error) {
          if (error instanceof TallystickError || left === 0) throw error;
          await sleep(100);
        }
      }
    };
  }

  async function open(
    name: string,
    settings: { [name: string]: string } = {},
    leaseSeconds = LEASE_SECONDS,
  ): Promise<Machine> {
    const proxy = await cuttingProxy(url);
    const config = readConfig({
      LEDGER_DIR: path.join(folder.path, name),
      SETTLEMENT_API_KEYS: "key",
      RATE_LIMIT_PER_ADDRESS: "0",
      CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}`,
      LEDGER_STORE_URL: proxy.url,
      LEDGER_STORE_KEY: KEY,
      ...settings,
    });
    // Shorter than an operator may set it, so that the tests do not wait.
    if (config.sharedStore) Object.assign(config.sharedStore, { leaseSeconds, handOverSeconds: 1 });
    const stop = new AbortController();
    const machine: Machine = { name, failures: [], logged: [], proxy, close: async () => {} };
    machines.add(machine);
    const opening = openService({
      config,
      now: () => Date.now() / 1_000,
      log: (sentence, fields) => machine.logged.push(`${sentence} ${JSON.stringify(fields ?? {})}`),
      onFailure: (error) => machine.failures.push(error),
      signal: stop.signal,
      onStandby: (app) => {
        machine.standby = app;
      },
    });
    opening.then(
      (service) => {
        machine.service = service;
      },
      (error) => machine.failures.push(error),
    );
    machine.close = async () => {
      stop.abort();
      proxy.set("none");
      await opening.then((service) => service.close()).catch(() => {});
      proxy.close();
      machines.delete(machine);
    };
    await until(() => machine.service ?? machine.standby ?? machine.failures[0]);
    return machine;
  }
  async function until<T>(condition: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = condition();
      if (value) return value;
      await sleep(5);
    }
  }
  const serving = (machine: Machine) => until(() => machine.service);
  let numbered = 0;
  /** Sends a record once. */
  async function send(machine: Machine, given?: unknown) {
    const sent = given ?? (await signReceipts(1, numbered++))[0];
    const { app } = await serving(machine);
    const answer = await app.request("/v1/receipts", { method: "POST", body: JSON.stringify(sent) });
    // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
    return { status: answer.status, sent, json: (await answer.json()) as any };
  }
  /** Sends a record until its outcome is known, or the machine has ended. A slow machine may not reach its store in time. */
  async function settle(machine: Machine, given?: unknown) {
    for (let record = given; ; await sleep(20)) {
      const answer = await send(machine, record);
      const isOpen = ["outcome_unknown", "store_unavailable"].includes(answer.json.code);
      if (!isOpen || machine.failures.length > 0) return answer;
      record = answer.sent;
    }
  }
  /** Sends a proposal whose shadow differs, until its outcome is known. */
  async function hold(machine: Machine, parent_hash: string, task_id = "t") {
    const { app } = await serving(machine);
    const headers = { authorization: "Bearer key" };
    const body = JSON.stringify({
      header: { task_id, parent_hash },
      payload: { data_update: { x: 1 }, confidence_score: 0.9 },
      shadow: { payload: { data_update: { x: "another" } } },
    });
    for (;;) {
      const answer = await app.request("/v1/settle", { method: "POST", headers, body });
      const json = (await answer.json()) as { status: unknown; code?: string; id: string };
      if (json.code !== "outcome_unknown") return json;
    }
  }
  const heldRows = async (): Promise<number> => (await sql(`SELECT 1 FROM ${STORE_SCHEMA}.held`)).rows.length;
  const healthOf = async (app: Hono | undefined) => {
    const answer = await (app as Hono).request("/health");
    // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
    return { status: answer.status, json: (await answer.json()) as any };
  };
  const codeOf = async (machine: Machine) => (await healthOf(machine.standby)).json.code;
  const untilCode = async (machine: Machine, code: string) => {
    while ((await codeOf(machine)) !== code) await sleep(5);
  };
  const fileOf = (name: string) =>
    readFileSync(path.join(folder.path, name, "local", "ledger.jsonl"), "utf8");

  it("commit each entry before it is acknowledged, and follow each other entry by entry", async () => {
    const a = await open("a");
    const first = await settle(a);
    expect(first.json.status).to.equal("SETTLED");
    const { rows } = await sql(`SELECT * FROM ${STORE_SCHEMA}.flush ORDER BY first_index`);
    expect(rows.map(({ first_index, next_index, head }) => [first_index, next_index, head])).to.deep.equal([
      ["-1", "0", "0".repeat(64)],
      ["0", "1", first.json.hash],
    ]);
    const b = await open("b");
    expect(await healthOf(b.standby)).to.deep.include({ status: 503 });
    await untilCode(b, "standby");
    expect((await b.standby?.request("/v1/receipts", { method: "POST", body: "{}" }))?.status).to.equal(503);
    await Promise.all(Array.from({ length: 20 }, () => settle(a)));
    while ((await healthOf(b.standby)).json.size !== 21) await sleep(5);
    expect(fileOf("b")).to.equal(fileOf("a"));
  });

  it("refuse to stand by with another checkpoint key than that in their folder", async () => {
    await serving(await open("a"));
    const own = path.join(folder.path, "b", "local");
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, "checkpoint.key"), `${"12".repeat(32)}\n`);
    const b = await open("b");
    expect(b.failures[0]).to.include({ code: "checkpoint_key_differs" });
    expect(b.standby).to.equal(undefined);
  });

  it("take over at once from a machine that is told to stop, and a repeated record gets its entry", async () => {
    const a = await open("a");
    const b = await open("b");
    const before = await settle(a);
    await a.close();
    const again = await settle(b, before.sent);
    expect(again.json).to.include({ status: "SETTLED", hash: before.json.hash, index: 0 });
    expect(again.status).to.equal(200);
    expect((await settle(b)).json.index).to.equal(1);
    const back = await open("a");
    await untilCode(back, "standby");
  });

  it("continue after a lost answer of the store: the row is there once, and it is ours", async () => {
    const a = await open("a");
    await settle(a);
    for (const fault of ["answer", "question"] as const) {
      a.proxy.set(fault);
      const cuts = a.proxy.cuts();
      // Renewals of the lease are inserts too. A cut of a renewal costs nothing.
      while (a.proxy.cuts() === cuts) await settle(a);
    }
    const { size } = (await serving(a)).ledger;
    const { rows } = await sql(
      `SELECT sum(next_index - greatest(first_index, 0)) AS sum FROM ${STORE_SCHEMA}.flush`,
    );
    expect([a.failures, Number(rows[0].sum)]).to.deep.equal([[], size]);
  });

  it("refuse new writes while the store is away, and settle what waited when it is back", async () => {
    // With a short lease the store's deadlines are short too.
    const a = await open("a", {}, SHORT_SECONDS);
    await settle(a);
    a.proxy.set("frozen");
    const waiting = settle(a);
    const { app } = await serving(a);
    while ((await healthOf(app)).json.code !== "store_unavailable") await sleep(20);
    expect((await send(a)).json.code).to.equal("store_unavailable");
    expect((await app.request("/v1/ledger/checkpoint")).status).to.equal(200);
    a.proxy.set("none");
    expect((await waiting).json).to.include({ status: "SETTLED", index: 1 });
    while ((await healthOf(app)).status !== 200) await sleep(20);
    expect((await settle(a)).json).to.include({ status: "SETTLED", index: 2 });
  });

  it("never write at the same time: a machine that was cut off for longer than the lease loses its flush, and ends", async () => {
    const a = await open("a", {}, SHORT_SECONDS);
    await settle(a);
    const [next] = await signReceipts(1, numbered++);
    a.proxy.set("frozen");
    const lost = send(a, next);
    // Nobody stands by before, so a slow machine does not lose its lease too early.
    const b = await open("b");
    const taken = await settle(b);
    expect(taken.json).to.include({ status: "SETTLED", index: 1 });
    a.proxy.set("none");
    const answer = await lost;
    // A slow machine stops waiting after ten seconds, before it knows that its flush is lost.
    expect(answer.status).to.equal(503);
    expect(answer.json.code).to.be.oneOf(["ledger_taken_over", "outcome_unknown"]);
    expect((await until(() => a.failures[0])) as object).to.include({ code: "ledger_taken_over" });
    expect((await settle(b, answer.sent)).json).to.include({ status: "SETTLED", index: 2 });
    await a.close();
    const back = await open("a");
    while ((await healthOf(back.standby)).json.size !== 3) await sleep(5);
    expect(fileOf("a")).to.equal(fileOf("b"));
  });

  it("use each position once, whoever has the lease", async () => {
    const a = await open("a");
    await settle(a);
    // Another machine takes the lease, and writes the next position. The row in the store decides: this machine loses.
    const store = storeOf();
    // The first machine may renew its lease in between, so the row may be there again.
    do await sql(`DELETE FROM ${STORE_SCHEMA}.lease`);
    while (!(await store.lease()));
    const { rows } = await sql(`SELECT head FROM ${STORE_SCHEMA}.flush WHERE first_index = 0`);
    const parent = rows[0].head as string;
    const line = `{"current_hash": "${"ab".repeat(32)}"}\n`;
    expect(await store.commit(flushAfter({ next: 1, head: parent }, line))).to.equal("ours");
    const answer = await settle(a);
    expect(answer.json.code).to.equal("ledger_taken_over");
    await store.close();
  });

  it("write nothing after a missing row, and the same row once", async () => {
    const [one, two] = [storeOf(), storeOf()];
    await one.begin({ size: 0, head: "0".repeat(64) });
    await two.begin({ size: 5, head: "1".repeat(64) });
    const flush = (first: number, parent: string, head: string): Flush => {
      const lines = `{"current_hash": "${head}"}\n`;
      return { ...flushAfter({ next: first, head: parent }, lines) };
    };
    const [zero, a, b] = ["0".repeat(64), "a".repeat(64), "b".repeat(64)];
    expect(await one.commit(flush(1, zero, a))).to.equal("no_predecessor");
    expect(await one.commit(flush(0, b, a))).to.equal("no_predecessor");
    const outcomes = await Promise.all([one.commit(flush(0, zero, a)), two.commit(flush(0, zero, b))]);
    expect([...outcomes].sort()).to.deep.equal(["anothers", "ours"]);
    const [mine, head] = outcomes[0] === "ours" ? [one, a] : [two, b];
    expect(await mine.commit(flush(0, zero, head))).to.equal("ours");
    expect(await one.commit(flush(1, head === a ? b : a, b))).to.equal("no_predecessor");
    // A hundred flushes compete for each position at the same time, and one of them gets it.
    let parent = head;
    for (let at = 1; at < 6; at++) {
      const tries = Array.from({ length: 100 }, (_, n) => flush(at, parent, `${at}${n}`.padStart(64, "c")));
      const come = await Promise.all(tries.map((it, n) => (n % 2 ? one : two).commit(it)));
      expect(come.filter((it) => it === "ours")).to.have.length(1);
      parent = tries[come.indexOf("ours")]?.head as string;
    }
    await Promise.all([one.close(), two.close()]);
  });

  it("share one lease, which expires by the database's clock; a lease that was set far ahead is invalid", async () => {
    const [one, two] = [storeOf("local", SHORT_SECONDS * 1_000), storeOf()];
    expect([await two.lease(), await one.lease(), await two.lease()]).to.deep.equal([true, false, true]);
    await two.release();
    expect(await one.lease()).to.equal(true);
    while (!(await two.lease())) await sleep(50);
    expect(await one.lease()).to.equal(false);
    await two.release();
    expect(await one.lease()).to.equal(true);
    await sql(`UPDATE ${STORE_SCHEMA}.lease SET until = now() + interval '2 hours'`);
    expect(await two.lease()).to.equal(true);
    await Promise.all([one.close(), two.close()]);
  });

  it("keep two ledgers in one store apart", async () => {
    const other = storeOf(`0x${"12".repeat(32)}`);
    await other.begin({ size: 0, head: "0".repeat(64) });
    expect(await other.lease()).to.equal(true);
    const a = await open("a");
    expect((await settle(a)).json).to.include({ status: "SETTLED", index: 0 });
    expect((await other.flushesFrom(0)).map(({ next }) => next)).to.deep.equal([0]);
    await other.close();
  });

  it("use nothing from an older or empty store, until their operator says which copy is the newest", async () => {
    const a = await open("a");
    for (let n = 0; n < 3; n++) await settle(a);
    const whole = fileOf("a");
    // The database is restored while the writer runs.
    await sql(`DELETE FROM ${STORE_SCHEMA}.flush WHERE first_index >= 1`);
    const answer = await settle(a);
    expect([answer.status, answer.json.code]).to.deep.equal([503, "store_behind"]);
    await until(() => a.failures[0]);
    await a.close();
    const again = await open("a");
    await untilCode(again, "store_behind");
    expect(again.service).to.equal(undefined);
    await again.close();
    const share = async () => {
      const [store, ledger] = [
        storeOf(),
        await DiskLedger.open({ folder: path.join(folder.path, "a", "local") }),
      ];
      try {
        return await shareLedger(ledger, store);
      } finally {
        await store.release();
        await store.close();
        await ledger.close();
      }
    };
    expect(await share()).to.deep.equal({ size: 3, put: 2, began: false });
    expect(await share()).to.deep.equal({ size: 3, put: 0, began: false });
    const b = await open("b");
    expect((await settle(b)).json).to.include({ status: "SETTLED", index: 3 });
    expect(fileOf("b").startsWith(whole)).to.equal(true);
    await b.close();
    // This machine's copy is not the newest any more.
    const refused = await share().catch((error) => error.code);
    expect(refused).to.equal("ledger_taken_over");

    await sql(`TRUNCATE ${STORE_SCHEMA}.flush`);
    const lost = await open("a");
    await untilCode(lost, "store_empty");
    expect(fileOf("a")).to.equal(whole);
    await lost.close();
    expect(await share()).to.deep.equal({ size: 3, put: 0, began: true });
    const back = await open("a");
    expect((await settle(back)).json).to.include({ status: "SETTLED", index: 3 });
    await untilCode(await open("c"), "store_lacks_rows");
    // Machine b answered other entries meanwhile. They are another history, and b must not continue it.
    await untilCode(await open("b"), "store_contradicts");
  });

  it("accept no row that somebody else put into the database, with any content", async () => {
    const a = await open("a");
    await settle(a);
    await settle(a);
    const lines = fileOf("a");
    await a.close();
    // The row is right except for its seal, as if it came from another database.
    await sql(`UPDATE ${STORE_SCHEMA}.flush SET seal = repeat('0', 64) WHERE first_index = 1`);
    const b = await open("b");
    await untilCode(b, "store_foreign_row");
    expect((await healthOf(b.standby)).json.size).to.equal(0);
    await b.close();
    // The seal covers only the hashes, so a row with a good seal may have endless lines. No machine reads them.
    const store = storeOf();
    const ofEntry0 = (text: string) =>
      sql(`UPDATE ${STORE_SCHEMA}.flush SET lines = ${text} WHERE first_index = 0`);
    await ofEntry0("repeat('x', 9 << 20)");
    const endless = await store.flushesFrom(0).catch((error) => error);
    expect(endless).to.include({ code: "store_foreign_row" });
    await ofEntry0(`'${lines.slice(0, lines.indexOf("\n") + 1).replaceAll("'", "''")}'`);
    // The row has a good seal, but its line is not an entry.
    const [, head] = /"current_hash": "(\w+)/.exec(lines) as RegExpExecArray;
    await sql(`DELETE FROM ${STORE_SCHEMA}.flush WHERE first_index = 1`);
    await store.commit(flushAfter({ next: 1, head: head as string }, '{"current_hash": "00"}\n'));
    const c = await open("c");
    await untilCode(c, "store_contradicts");
    expect((await healthOf(c.standby)).json.size).to.equal(1);
    await store.close();
  });

  it("refuse a file that was written without the store", async () => {
    const alone = { LEDGER_STORE_URL: "", LEDGER_STORE_KEY: "" };
    const a = await open("a", alone);
    await settle(a);
    await a.close();
    const b = await open("b");
    await settle(b);
    await b.close();
    const mixed = await open("a");
    await untilCode(mixed, "store_contradicts");
  });

  it("hold a proposal only if the store has it too, and show and release proposals that another machine held", async () => {
    const OPERATOR = operator.address;
    const a = await open("a", { OPERATOR });
    const b = await open("b", { OPERATOR });
    const { app, ledger } = await serving(a);
    await sql(`ALTER TABLE ${STORE_SCHEMA}.held RENAME TO gone`);
    const holding = hold(a, ledger.head);
    const statusOf = async () => (await (await app.request("/v1/status/t")).json()) as { code: string };
    while ((await statusOf()).code !== "outcome_unknown") await sleep(5);
    const health = await healthOf(app);
    expect([health.json.held, health.status], "nothing else waits for it").to.deep.equal([0, 200]);
    await sql(`ALTER TABLE ${STORE_SCHEMA}.gone RENAME TO held`);
    const { status, id } = await holding;
    expect(status).to.equal("ESCROWED");
    await a.close();
    const waitingAt = async ({ app: at }: SettlementService) => {
      const headers = { authorization: "Bearer key" };
      const list = await (await at.request("/v1/reviews", { headers })).json();
      return (list as { items: { id: string }[] }).items.map((it) => it.id);
    };
    const decision = { proposal: id, decision: "release", reason: "looked at it" };
    const review = JSON.stringify(await bound("review", decision, operator));
    const releaseAt = async ({ app: at }: SettlementService) => {
      const reply = await at.request(`/v1/reviews/${id}`, { method: "POST", body: review });
      const { released } = (await reply.json()) as { released?: { index: number } };
      return [reply.status, released?.index];
    };
    const taken = await serving(b);
    expect(await waitingAt(taken)).to.deep.equal([id]);
    expect(await releaseAt(taken)).to.deep.equal([201, 1]);
    await b.close();
    // A third machine takes the proposal from the store, and its review from the ledger.
    const third = await serving(await open("c", { OPERATOR }));
    expect(await waitingAt(third)).to.deep.equal([]);
    expect([await releaseAt(third), third.ledger.size]).to.deep.equal([[200, 1], 2]);
  });

  it("hold no proposal after the lease was lost, because the next writer has read the held proposals before", async () => {
    const other = `0x${"12".repeat(32)}` as const;
    const [one, two] = [storeOf(other), storeOf(other)];
    const [first, second] = [
      { id: "ab", line: "ab\n" },
      { id: "cd", line: "cd\n" },
    ];
    expect([await one.lease(), await two.putHeld(first)]).to.deep.equal([true, false]);
    expect(await one.heldIds("")).to.deep.equal([]);
    expect([await one.putHeld(first), await one.putHeld(first)]).to.deep.equal([true, true]);
    await one.release();
    expect([await two.lease(), await one.putHeld(second)]).to.deep.equal([true, false]);
    expect([await two.heldIds(""), await two.held("ab")]).to.deep.equal([["ab"], first]);
    await Promise.all([one.close(), two.close()]);
    const a = await open("a");
    const { ledger } = await serving(a);
    await sql(`UPDATE ${STORE_SCHEMA}.lease SET holder = 'another', until = now() + interval '5 minutes'`);
    expect(await hold(a, ledger.head)).to.include({ status: 503, code: "ledger_taken_over" });
  });

  it("hold a proposal once if the store's answer to it is lost", async () => {
    const a = await open("a");
    const { app, ledger } = await serving(a);
    let held = 0;
    a.proxy.set("answer");
    // A renewal of the lease is an insert too. A cut of a renewal costs nothing.
    for (; a.proxy.cuts() === 0; held++)
      expect(await hold(a, ledger.head, `task-${held}`)).to.include({ status: "ESCROWED" });
    expect(await heldRows()).to.equal(held);
    expect((await healthOf(app)).json.held).to.equal(held);
  });

  it("hold a proposal once if the writer's disk has no room for it: the writer ends, and the agent finds it at the next one", async () => {
    const a = await open("a");
    const b = await open("b");
    const parents: string[] = [];
    const propose = async (machine: Machine) => {
      const { app } = await serving(machine);
      return await settleTask({
        ...{ baseUrl: "http://ledger.test", apiKey: "key", taskId: "task-1", proposedOn: [...parents] },
        work: async () => ({
          ...{ dataUpdate: { x: 1 }, confidenceScore: 0.9 },
          shadow: { dataUpdate: { x: "another" } },
        }),
        onProposing: ({ parentHash }) => void parents.push(parentHash),
        fetch: async (input, init) => {
          const answer = await app.request(input, init);
          // The head moves, as if the proposal was rejected because another one came first.
          if (input.endsWith("/v1/settle")) await settle(machine);
          return answer;
        },
      }).catch((error) => error);
    };
    const freeDisks = await fillDisks();
    try {
      expect(await propose(a)).to.include({ code: "outcome_unknown" });
    } finally {
      freeDisks();
    }
    expect(await heldRows()).to.equal(1);
    expect(a.failures[0]).to.include({ code: "ledger_unavailable" });
    await a.close();
    expect(await propose(b)).to.include({ status: "ESCROWED", attempts: 0 });
    expect(await heldRows()).to.equal(1);
  });

  it("hand over from a writer that cannot write to a stand-by that can write, and never to one that cannot write", async () => {
    const chain = await startSdkChain();
    const rpc = await openRpcProxy(chain);
    const other = await openRpcProxy(chain);
    // Nothing listens there.
    const dead = "http://127.0.0.1:9";
    // A machine looks every two seconds whether it should hand over. A pause of some seconds does not end this lease.
    const leaseSeconds = 8;
    const openFor = (name: string, rpcUrl: string) =>
      open(name, { ...settings, RPC_URL: rpcUrl }, leaseSeconds);
    const { client } = chain;
    const artifact = JSON.parse(
      readFileSync(
        path.join(repositoryRoot, "artifacts/contracts/AnchoredLedger.sol/AnchoredLedger.json"),
        "utf8",
      ),
    );
    const hash = await client.deployContract({ chain: null, abi: artifact.abi, bytecode: artifact.bytecode });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    const settings = {
      ...{ CHAIN_ID: String(chain.network.chainId), ANCHORED_LEDGER: String(contractAddress).toLowerCase() },
      ANCHOR_PRIVATE_KEY: `0x${"66".repeat(32)}`,
      ANCHOR_INTERVAL_SECONDS: "0.5",
    };
    await client.setBalance({
      address: privateKeyToAccount(`0x${"66".repeat(32)}`).address,
      value: 10n ** 20n,
    });
    try {
      const a = await openFor("a", dead);
      const { app } = await serving(a);
      expect((await healthOf(app)).json.code).to.equal("chain_unknown");
      const b = await openFor("b", dead);
      // A hand-over takes at most half of this time.
      await sleep(8_000);
      expect([a.failures, b.service], "the stand-by could not write either").to.deep.equal([[], undefined]);
      await b.close();
      const healthy = await openFor("c", rpc.url);
      const { app: served } = await serving(healthy);
      expect((await until(() => a.failures[0])) as object).to.include({ code: "ledger_handed_over" });
      expect((await settle(healthy)).json).to.include({ status: "SETTLED", index: 0 });
      expect((await send(a)).status, "the other one writes nothing").to.equal(503);
      await a.close();
      const back = await openFor("a", dead);
      await untilCode(back, "standby");
      while ((await healthOf(served)).status !== 200) await sleep(20);
      // A writer whose chain falls silent after its start goes on writing, but anchors nothing.
      rpc.sabotage = ({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32_000, message: "away" } });
      await sql(`UPDATE ${STORE_SCHEMA}.lease SET handed_over = handed_over - interval '11 minutes'`);
      const reached = await openFor("d", other.url);
      const ended = (await until(() => healthy.failures[0])) as Error & { cause?: object };
      expect(ended).to.include({ code: "ledger_handed_over" });
      expect(ended.cause).to.include({ code: "chain_silent" });
      expect((await settle(reached)).json).to.include({ status: "SETTLED", index: 1 });
    } finally {
      for (const machine of machines) await machine.close();
      await rpc.close();
      await other.close();
      await chain.close();
    }
  });

  it("hand a lease over once in ten minutes, and only to a process that was there a moment ago", async () => {
    const [one, two] = [storeOf(), storeOf()];
    expect(await one.lease()).to.equal(true);
    expect(await one.handOver(), "nobody stands by").to.equal(false);
    await one.standBy(true);
    expect(await one.handOver(), "to itself").to.equal(false);
    await two.standBy(false);
    expect(await one.handOver(), "to one that cannot write").to.equal(false);
    await two.standBy(true);
    await sql(`UPDATE ${STORE_SCHEMA}.standby SET seen = seen - interval '5 minutes'`);
    expect(await one.handOver(), "to one that is gone").to.equal(false);
    await two.standBy(true);
    expect(await two.handOver(), "what it does not have").to.equal(false);
    expect(await one.handOver()).to.equal(true);
    expect([await one.lease(), await two.lease()]).to.deep.equal([false, true]);
    await one.standBy(true);
    expect(await two.handOver(), "back again").to.equal(false);
    await sql(`UPDATE ${STORE_SCHEMA}.lease SET handed_over = handed_over - interval '11 minutes'`);
    await one.standBy(true);
    expect(await two.handOver()).to.equal(true);
    expect([await two.lease(), await one.lease()]).to.deep.equal([false, true]);
    await Promise.all([one.close(), two.close()]);
  });

  it("settle while the writing machine is lost or cut off 20 times, lose no entry, and fork nothing", async function () {
    this.timeout(600_000);
    const answered: { hash: string; index: number }[] = [];
    const openQuickly = (name: string) => open(name, {}, 3);
    let writer = await openQuickly("a");
    let other = await openQuickly("b");
    for (let run = 0; run < 20; run++) {
      const fault = (["answer", "frozen", "question", "stopped"] as const)[run % 4];
      const burst = () => Array.from({ length: 4 }, () => send(writer));
      const sent = burst();
      const closed = fault === "stopped" ? writer.close() : writer.proxy.set(fault ?? "none");
      if (fault !== "stopped") sent.push(...burst());
      const isLost = fault === "stopped" || fault === "frozen";
      if (isLost) sent.push(...(await Promise.all([send(other)])).map(async (it) => it));
      // Data that was under way arrives late.
      writer.proxy.set("none");
      for (const { json } of await Promise.all(sent)) if (json.status === "SETTLED") answered.push(json);
      await closed;
      // On a busy machine a writer may lose its lease although this test cut nothing. Then it has ended.
      if (!isLost && writer.failures.length === 0) continue;
      await writer.close();
      const back = await openQuickly(writer.name);
      [writer, other] = [other, back];
    }
    // The machine that stands by may have got the lease from a slow writer.
    const sizeOf = async ({ service, standby }: Machine): Promise<number> =>
      service?.ledger.size ?? (await healthOf(standby)).json.size;
    while ((await sizeOf(other)) !== (await sizeOf(writer))) await sleep(5);
    expect(fileOf("a")).to.equal(fileOf("b"));
    const hashes = fileOf("a")
      .split("\n")
      .map((line) => line.slice('{"current_hash": "'.length, '{"current_hash": "'.length + 64));
    expect(answered.length).to.be.above(60);
    for (const { hash, index } of answered) expect(hashes[index]).to.equal(hash);
    expect((await (await serving(writer)).app.request("/v1/ledger/verify")).status).to.equal(200);
  });
});
