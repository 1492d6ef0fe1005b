import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import { WebSocket } from "ws";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { startPostgres } from "../../scripts/postgres/startPostgres.ts";
import { freePort, isPortFree } from "../../scripts/processes/freePort.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { SECOND_NODES } from "../support/secondNodes.ts";
import { followEvents } from "./support/followEvents.ts";
import { fetchWhenServed, type IndexerProcess, startIndexer } from "./support/indexerProcess.ts";
import { type LocalChain, newWallet, PROVIDER, startLocalChain } from "./support/localChain.ts";
import { openOnChain, TestLedger } from "./support/testLedger.ts";
import { startUpgrade } from "./support/upgradeProcess.ts";

type Message = { type: string; position: string; data?: Record<string, unknown> };

/**
 * The SQL statement of docs/operators.md that points the views at the tables of `tallystick_v2`, but for another
 * schema.
 */
function switchTo(schema: string): string {
  const text = readFileSync(path.join(repositoryRoot, "docs/operators.md"), "utf8");
  const [, statement = ""] = /```sql\n([\s\S]*?)```/.exec(text) ?? [];
  expect(statement).to.contain("tallystick_v2");
  return statement.replaceAll("tallystick_v2", schema);
}

/**
 * Whether a request was refused because the machine is busy. A database that does not answer for a second counts as
 * away. If GraphQL refuses and gives no reason, there were too many requests. `databaseWatch.test.ts` tests that a lock
 * alone is no such reason.
 */
function isOfBusyMachine({ message }: Error): boolean {
  return message === "" || /"(?:DATABASE_UNAVAILABLE|OVERLOADED)"/.test(message);
}

/** The replicas: processes that only answer. All answer alike, so `npm test` starts one. */
const REPLICAS = SECOND_NODES ? ["replica-1", "replica-2"] : ["replica-1"];

/**
 * The processes of the compose file without containers: one process that indexes, and others that only answer, through
 * views.
 */
describe("one indexer and its replicas on one Postgres", function () {
  // Three nodes start one after another, which takes long on a busy machine.
  this.timeout(600_000);
  this.slow(30_000);

  let folder: string;
  let supervisor: Supervisor;
  let chain: LocalChain;
  let indexer: IndexerProcess;
  let replicas: IndexerProcess[];
  let published: string;
  let environment: Record<string, string>;
  const [buyer, seller, writer] = [newWallet(), newWallet(), newWallet()];
  const ledger = new TestLedger();
  let onChain: Awaited<ReturnType<typeof openOnChain>>;
  const sockets: WebSocket[] = [];
  const subscriptions = new AbortController();
  let envFile: string;
  const upgrades: ChildProcess[] = [];
  const over = new AbortController();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-replicas-"));
    published = path.join(folder, "ledger");
    supervisor = await openSupervisor();
    const [postgres, local] = await Promise.all([
      startPostgres({ supervisor }),
      startLocalChain(supervisor, folder),
    ]);
    chain = local;
    onChain = await openOnChain(chain, writer, "test.local/replicas");
    environment = {
      DATABASE_SCHEMA: "tallystick_v1",
      DATABASE_URL: await postgres.createDatabase("replicas"),
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: chain.anchoredLedger,
      LEDGERS: `${onChain.id}=${published}`,
      TICK_BLOCKS: "1",
    };
    envFile = path.join(folder, ".env");
    const settings = Object.entries({ ...environment, START_BLOCK: "0", POLLING_INTERVAL_MS: "250" });
    await writeFile(envFile, settings.map(([name, value]) => `${name}=${value}\n`).join(""));
    await chain.fuel(buyer);
    await chain.mint(buyer, 100_000_000n);
    indexer = await startIndexer(supervisor, folder, environment);
    await indexer.untilTick(await chain.client.getBlockNumber());
    await run(switchTo("tallystick_v1"));
    const throughViews = { ...environment, DATABASE_SCHEMA: "tallystick_live" };
    replicas = await Promise.all(
      REPLICAS.map((name) => startIndexer(supervisor, folder, throughViews, name, "serve")),
    );
  });
  after(async () => {
    over.abort();
    subscriptions.abort();
    for (const socket of sockets) socket.terminate();
    for (const child of upgrades) child.kill("SIGKILL");
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: environment.DATABASE_URL });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  /** Stores everything that a node sends on its stream. For a new replica, the socket is the first request of all. */
  function listen({ url }: IndexerProcess) {
    const heard: Message[] = [];
    const open = () => {
      if (over.signal.aborted) return;
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream?from=0`);
      sockets.push(socket);
      socket.on("message", (text) => heard.push(JSON.parse(String(text))));
      socket.on("error", () => {});
      // On a busy machine the node may refuse the stream for a moment.
      socket.on("unexpected-response", () => {
        socket.terminate();
        setTimeout(open, 200);
      });
    };
    open();
    return {
      until: (type: string) =>
        waitUntil(async () => heard.find((message) => message.type === type), {
          what: `a ${type} from ${url}`,
          withinMs: 120_000,
          everyMs: 50,
        }),
    };
  }

  /** Subscribes with GraphQL and gives the first event. Tests subscribe before the event happens. */
  async function subscribe<Event>({ url }: IndexerProcess, field: string): Promise<Event> {
    for (;;) {
      const events = followEvents<Event>(`${url}/graphql`, field, subscriptions.signal);
      const { value } = await events.next();
      if (value) return value;
      // On a busy machine the node may refuse the subscription for a moment.
      await sleep(200);
    }
  }

  it("send a hire as soon as it counts, on the stream of each process and to its subscribers", async () => {
    const streams = [indexer, ...replicas].map(listen);
    const field = `hireCounted(seller: "${seller.address}", after: "0") { position reorg hire { tx priceUsdc buyer { address } } }`;
    const told = [indexer, ...replicas].map((node) => subscribe<{ position: string }>(node, field));
    for (const stream of streams) await stream.until("heartbeat");
    const paid = await chain.pay(buyer, seller, 500_000n);
    await ledger.sign(seller, "listing", {
      agent_id: seller.address,
      capability: "text.translate",
      endpoint: "https://seller.example",
      max_latency_ms: 1000,
      price_usdc: "0.50",
    });
    await ledger.sign(seller, "receipt", {
      agent_id: seller.address,
      amount_usdc_atomic: "500000",
      buyer: buyer.address,
      capability: "text.translate",
      completed_at: 1_767_225_600,
      hire_id: "hire-1",
      network: "eip155:31337",
      protocol_version: "swarmwage/v0.3",
      tx_hash: paid.transactionHash,
      verification: { all_passed: true, checks: {} },
    });
    await ledger.save(published);
    await onChain.anchor(ledger);
    const hires = await Promise.all(streams.map((stream) => stream.until("hire")));
    for (const hire of hires) {
      expect(hire).to.deep.equal(hires[0]);
      expect(hire.data).to.include({ seller: seller.address, buyer: buyer.address, price_usdc: "0.50" });
    }
    for (const event of await Promise.all(told)) {
      expect(event).to.deep.equal({
        position: hires[0]?.position,
        reorg: false,
        hire: { tx: paid.transactionHash, priceUsdc: "0.50", buyer: { address: buyer.address } },
      });
    }
    const anchors = await Promise.all(streams.map((stream) => stream.until("anchor")));
    expect(anchors[0]?.data).to.include({ ledger: onChain.id, new_size: "2" });
    expect((anchors[0]?.position ?? "") < (hires[0]?.position ?? "")).to.equal(true);
  });

  it("give the same digest, the same answers and the same tags", async () => {
    const get = async (url: string) => (await fetchWhenServed(url)).json();
    await indexer.untilTick(await chain.client.getBlockNumber());
    const answers = await Promise.all(
      [indexer, ...replicas].map(async ({ url, query }) => {
        const { meta } = await query<{ meta: object }>("{ meta { block digest indexedBlock } }");
        const client = createQueryClient({ baseUrl: url, fetch: fetchWhenServed });
        const path = `${url}/v1/agents/${seller.address}/reputation`;
        const response = await fetchWhenServed(path, { headers: { origin: "https://dashboard.example" } });
        const tag = response.headers.get("etag") ?? "";
        const again = await fetchWhenServed(path, { headers: { "if-none-match": tag } });
        return {
          meta,
          tag,
          status: again.status,
          origin: response.headers.get("access-control-allow-origin"),
          reputation: await response.json(),
          found: await client.search({ capability: "text.translate" }),
          leaders: await get(`${url}/v1/insights/capabilities/text.translate/leaderboard`),
          trends: await get(`${url}/v1/insights/capabilities`),
        };
      }),
    );
    const [first] = answers;
    for (const answer of answers) expect(answer).to.deep.equal(first);
    expect(first).to.include({ status: 304, origin: "*" });
    expect(first?.leaders.leaders[0].in_capability).to.include({ hires: 1, volume_usdc: "0.50" });
    expect(first?.trends.capabilities[0].window).to.include({ hires: 1, success_rate: 1 });
    expect(first?.found.agents.map((it) => it.agent_id)).to.deep.equal([seller.address]);
    expect(first?.meta)
      .to.have.property("digest")
      .that.matches(/^0x[0-9a-f]{64}$/);
  });

  it("give the same pages of the log, to the byte and the tag, as far as the log is final", async () => {
    // Ponder counts a block as final when thirty blocks are above it, and checks this every sixty blocks.
    await chain.mine(75);
    await indexer.untilTick(await chain.client.getBlockNumber());
    await indexer.until("the hire to be final", async () =>
      (await (await fetch(`${indexer.url}/v1/events?limit=5000`)).text()).includes('"receipt"'),
    );
    const snapshot = await openNodeSnapshot({
      databaseUrl: environment.DATABASE_URL ?? "",
      databaseSchema: "tallystick_v1",
    });
    const exported: string[] = [];
    for await (const line of snapshot.eventLog()) exported.push(`${line}\n`);
    await snapshot.close();
    const pages = [indexer, ...replicas].map(async ({ url }) => {
      const texts: string[] = [];
      const headers: string[][] = [];
      for (let after = 0, last = 1; after < last; ) {
        const response = await fetchWhenServed(`${url}/v1/events?after=${after}&limit=20`);
        texts.push(await response.text());
        const names = ["etag", "tallystick-lines", "cache-control", "content-encoding"];
        headers.push(names.map((name) => response.headers.get(name) ?? ""));
        const [, next, end] = /next=(\d+), last=(\d+)/.exec(headers.at(-1)?.[1] ?? "") ?? [];
        [after, last] = [Number(next) - 1, Number(end)];
      }
      const digests = await (await fetchWhenServed(`${url}/v1/digests?limit=5000`)).json();
      const entries = await (await fetchWhenServed(`${url}/v1/ledger/entries`)).text();
      return { text: texts.join(""), headers, digests, entries };
    });
    const [first, ...others] = await Promise.all(pages);
    for (const other of others) expect(other).to.deep.equal(first);
    // A node serves the entries of the ledger that it read, so that a lost ledger can be restored.
    expect(first?.entries.trimEnd().split("\n")).to.deep.equal(ledger.lines());
    const lines = first?.text.split("\n").length ?? 0;
    expect(first?.text).to.equal(exported.slice(0, lines - 1).join(""));
    // The last blocks are not final.
    expect(lines).to.be.within(30, exported.length - 29);
    expect(JSON.parse(exported[0] ?? "")).to.deep.include({
      form: "all",
      token: { address: chain.token, firstBlock: 0 },
    });
    expect(first?.headers[0]).to.include.members(["public, max-age=31536000, immutable", "gzip"]);
  });

  it("can be checked from outside: their logs derive to their digests, unless they are changed on the way", async () => {
    const tallystick = async (args: string[]) => {
      const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", args), {
        cwd: repositoryRoot,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [[code], out, err] = await Promise.all([
        once(child, "close"),
        text(child.stdout),
        text(child.stderr),
      ]);
      return { code: code as number, out, err };
    };
    const [one, other] = [...replicas, indexer].map(({ url }) => url) as [string, string];
    const keep = path.join(folder, "kept.jsonl");
    // This server is between the reader and the node. It changes a payment of 0.50 USDC to 0.60 USDC.
    const liar = createServer((request, response) => {
      void fetchWhenServed(`${one}${request.url}`).then(async (answer) => {
        const lines = answer.headers.get("tallystick-lines");
        response.writeHead(answer.status, lines === null ? {} : { "tallystick-lines": lines });
        response.end((await answer.text()).replace('"value":"500000"', '"value":"600000"'));
      });
    });
    await new Promise<void>((listening) => liar.listen(0, "127.0.0.1", listening));
    const lies = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    try {
      const [checked, compared, lied] = await Promise.all([
        tallystick(["derive", "--from", one, "--keep", keep, "--check"]),
        tallystick(["compare", one, other, lies]),
        tallystick(["derive", "--from", lies, "--check"]),
      ]);
      expect(checked.code, checked.err).to.equal(0);
      expect(checked.err).to.match(/checked: the digests of \d+ ticks are those of/);
      expect(JSON.parse(checked.out).agents[seller.address].last_30d_hire_count).to.equal(1);
      expect(compared.code, compared.err).to.equal(0);
      expect(compared.out).to.match(/^3 nodes agree at \d+ ticks, up to block \d+\.$/m);
      expect({ code: lied.code, out: lied.out }).to.deep.equal({ code: 1, out: "" });
      expect(lied.err).to.match(/The tick of block \d+, line \d+, is the first that differs/);
      expect(lied.err).to.contain("digest_differs");
    } finally {
      liar.close();
    }
  });

  it("report what the indexer waits for, and when the wait is over", async () => {
    ledger.append({ type: "settlement", data_update: { withheld: true } });
    await onChain.anchor(ledger);
    const ask = "{ meta { blockedAtSegment { ledger from to } } }";
    const blocked = ({ query }: IndexerProcess) =>
      query<{ meta: { blockedAtSegment: object | null } }>(ask).then(({ meta }) => meta.blockedAtSegment);
    const segment = { ledger: onChain.id, from: String(ledger.size - 1), to: String(ledger.size) };
    await indexer.until("the indexer to wait", async () => (await blocked(indexer)) !== null);
    for (const node of [indexer, ...replicas]) expect(await blocked(node)).to.deep.equal(segment);

    await ledger.save(published);
    await indexer.until("the wait to be over", async () => (await blocked(indexer)) === null);
    for (const replica of replicas) expect(await blocked(replica)).to.equal(null);
    // The indexer ends in the next test. Later tests compare its last tables with those of another indexer.
    await indexer.untilTick(await chain.client.getBlockNumber());
  });

  it("keep answering while the indexer is down", async () => {
    await indexer.stop();
    for (const { query, url } of replicas) {
      const { meta } = await query<{ meta: { digest: string } }>("{ meta { digest } }");
      expect(meta.digest).to.match(/^0x/);
      expect((await fetchWhenServed(`${url}/v1/stream`)).status).to.equal(426);
    }
  });

  const upgrade = (...args: string[]) => {
    const started = startUpgrade(["--env-file", envFile, "--logs", folder, ...args]);
    upgrades.push(started.child);
    return started;
  };

  const ask = async ({ query }: Pick<IndexerProcess, "query">) => {
    const text = `{ meta { digest } agents { nodes { id hires { nodes { id } } cluster { id } } } }`;
    const { meta, agents } = await query<{ meta: { digest: string }; agents: { nodes: object[] } }>(text);
    expect(agents.nodes).to.have.length(2);
    return meta.digest;
  };

  it("keep their tables when an upgrade is killed, stopped, or not needed", async () => {
    const port = String(await freePort());
    const before = await Promise.all(replicas.map(ask));
    // The first table that the upgrade's indexer reads is locked. So the indexer makes its tables and waits, and it
    // ends normally when the upgrade is killed. At the next start Ponder itself leaves the lock of such tables open.
    const lock = new pg.Client({ connectionString: environment.DATABASE_URL }).on("error", () => {});
    await lock.connect();
    await lock.query("BEGIN; LOCK TABLE ponder_sync.rpc_request_results");
    const killed = upgrade("--schema", "tallystick_v2", "--port", port, "--force");
    expect(await killed.until("catching-up", false)).to.include({ block: 0, missing: "history" });
    killed.child.kill("SIGKILL");
    await killed.exit;
    await waitUntil(() => isPortFree(Number(port)), { what: "its indexer to end", withinMs: 120_000 });
    const open = `UPDATE tallystick_v2._ponder_meta SET value = value || '{"is_locked": 0}'
      WHERE NOT EXISTS (SELECT FROM tallystick_v2._ponder_checkpoint)`;
    // Ponder opens the lock at its end, if it needs less than five seconds. On a busy machine it may need more.
    expect((await lock.query(open)).rowCount, "tables without a block").to.equal(1);
    await lock.end();
    expect(await Promise.all(replicas.map(ask))).to.deep.equal(before);

    const same = upgrade("--schema", "tallystick_v2", "--port", port);
    expect(await same.exit).to.equal(1);
    expect(same.said()).to.contain("same_build").and.contain("--abandon tallystick_v2");
    expect(await same.until("stopped")).to.include({ live: "tallystick_v1", left: "tallystick_v2" });
    const waiting = upgrade("--schema", "tallystick_v3", "--follow-only");
    await waiting.until("situation");
    waiting.child.kill("SIGINT");
    expect(await waiting.exit).to.equal(130);
    expect(await waiting.until("stopped")).to.include({ live: "tallystick_v1", left: null });
    expect(await Promise.all(replicas.map(ask))).to.deep.equal(before);
  });

  it("switch to the tables of another indexer between two requests, with one command", async () => {
    const port = await freePort();
    const args = ["--schema", "tallystick_v2", "--port", String(port), "--force"];
    const asking = replicas.flatMap(({ url }) => ["--replica", url]);
    // The replicas get requests during the whole upgrade, and must answer them.
    const faults: unknown[] = [];
    let answers = 0;
    const asked = replicas.map(async (replica) => {
      for (; !over.signal.aborted; await sleep(100)) {
        await ask(replica).then(
          () => answers++,
          (error) => isOfBusyMachine(error) || faults.push(error),
        );
      }
    });
    const upgraded = upgrade(...args, ...asking);
    expect(await upgraded.until("digests")).to.have.property("old", await ask(replicas[0] as IndexerProcess));
    expect(await upgraded.until("replicas")).to.have.property("readers", replicas.length);
    expect(await upgraded.until("done")).to.include({
      live: "tallystick_v2",
      old: "tallystick_v1",
      indexed: true,
    });
    // Now the replicas read what the new indexer writes.
    const [first] = replicas as [IndexerProcess, ...IndexerProcess[]];
    const digest = await ask(first);
    await chain.mine();
    await first.until("tables with the next block", async () => (await ask(first)) !== digest);
    for (const replica of replicas)
      await replica.until("the digest of the first", async () => (await ask(replica)) === (await ask(first)));
    upgraded.child.kill("SIGKILL");
    await upgraded.exit;
    await waitUntil(() => isPortFree(port), { what: "its indexer to end", withinMs: 120_000 });

    const again = upgrade(...args, ...asking);
    expect(await again.exit).to.equal(0);
    expect(await again.until("done")).to.include({
      live: "tallystick_v2",
      switched: false,
      old: "tallystick_v1",
    });
    // The next start would begin a new history in the schema that the settings name.
    const refused = upgrade("--drop-old");
    expect(await refused.exit).to.equal(1);
    expect(refused.said()).to.contain("schema_of_settings");
    const settings = await readFile(envFile, "utf8");
    await writeFile(envFile, settings.replace("=tallystick_v1\n", "=tallystick_v2\n"));
    const dropping = upgrade("--drop-old");
    expect(await dropping.exit, dropping.said()).to.equal(0);
    expect((await dropping.until("drop-old")).dropped).to.deep.equal(["tallystick_v1", "tallystick_before"]);
    over.abort();
    await Promise.all(asked);
    expect(faults).to.deep.equal([]);
    expect(answers).to.be.above(20);
    for (const replica of replicas) expect(await ask(replica)).to.equal(await ask(first));
  });
});
