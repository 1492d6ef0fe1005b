import { createServer, type Server } from "node:http";
import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { WebSocket } from "ws";
import { attachStream } from "../../../../indexer/api/stream/attachStream.ts";
import {
  createStream,
  type Stream,
  type StreamOptions,
} from "../../../../indexer/api/stream/createStream.ts";
import { positionOf } from "../../../../indexer/api/stream/position.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { momentsOf, timelineKey } from "../../../../indexer/src/timeline.ts";
import { waitUntil } from "../../../../scripts/processes/waitUntil.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { changesOf } from "../../support/changesOf.ts";

type Message = { type: string; position: string; data?: Record<string, unknown>; [more: string]: unknown };

type TimelineRow = typeof schema.timeline.$inferInsert;

const [seller, other, buyer] = [wallet(1), wallet(2), wallet(9)];

/** The hash of a block of the test. */
const hashOf = (block: number) => `0x${String(block).padStart(16, "0").padEnd(64, "a")}`;

/** Hires, a rating and two tier changes, with the timeline rows that a node would have written. */
async function story() {
  const log = new EventLog({ tier2MinSuccesses: 2, tier2MinCapabilities: 1 });
  log.after(1).listing(seller, "text.task");
  const receipt = log.after(1).hire(seller, buyer);
  log.after(1).record("rating", buyer, { receipt, side: "buyer", stars: 4 });
  for (let n = 0; n < 6; n++) log.after(1).hire(n % 2 === 0 ? other : seller, buyer);
  log.after(60).tick();
  const store = new MemoryStore();
  const rows: TimelineRow[] = [];
  for (const [n, event] of log.events.entries()) {
    const position = `${String(event.block).padStart(12, "0")}/${"0".repeat(8)}/${String(n).padStart(16, "0")}`;
    for (const moment of momentsOf(await changesOf(store, event))) {
      const blockHash = hashOf(event.block);
      rows.push({ position: timelineKey(position, rows.length), blockHash, ...moment });
    }
  }
  return { store, rows };
}

describe("the WebSocket stream", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let rows: TimelineRow[];
  const closing: (() => void)[] = [];

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const told = await story();
    rows = told.rows;
    expect(rows.map((row) => row.kind)).to.deep.equal([
      "hire",
      "rating",
      "hire",
      "hire",
      "tier_change",
      "hire",
      "tier_change",
      "hire",
      "hire",
      "hire",
    ]);
    await database.fill(told.store);
    await database.pool.query(
      "INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ('1767225900' || lpad('31337', 16, '0') || lpad('77', 16, '0') || repeat('9', 33))",
    );
  });
  after(async () => {
    await database?.close();
  });
  beforeEach(() => database.database.delete(schema.timeline));
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  const at = (row: TimelineRow | undefined) => row && positionOf(row);
  const insert = (some: typeof rows) => database.database.insert(schema.timeline).values(some);

  async function open(options: Partial<StreamOptions> = {}): Promise<{ url: string; stream: Stream }> {
    const stream = createStream({ db: database.db, pollMs: 20, ...options });
    const server: Server = createServer((_, response) => response.end("plain"));
    attachStream(server, stream);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      stream.close();
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    return { url: `ws://127.0.0.1:${port}/v1/stream`, stream };
  }

  /** A client that stores every message. */
  function listen(url: string) {
    const socket = new WebSocket(url);
    const heard: Message[] = [];
    const closed = new Promise<{ code: number; reason: string }>((resolve) =>
      socket.on("close", (code, reason) => resolve({ code, reason: String(reason) })),
    );
    socket.on("message", (text) => heard.push(JSON.parse(String(text))));
    socket.on("error", () => {});
    closing.push(() => socket.terminate());
    const news = () => heard.filter(({ type }) => type !== "hello" && type !== "heartbeat");
    const until = (count: number) =>
      waitUntil(async () => news().length >= count && news(), {
        what: `${count} messages`,
        withinMs: 120_000,
        everyMs: 10,
      });
    const greeted = () =>
      waitUntil(async () => heard.length >= 2, { what: "the greeting", withinMs: 120_000, everyMs: 10 });
    return { socket, heard, news, until, greeted, closed };
  }

  it("begins with the next events, and gives the node's position", async () => {
    await insert(rows.slice(0, 3));
    const { url } = await open();
    const client = listen(url);
    await client.greeted();
    await insert(rows.slice(3, 5));
    const [hire, change] = await client.until(2);
    expect(client.heard[0]).to.deep.equal({
      type: "hello",
      position: at(rows[2]),
      head: at(rows[2]),
    });
    expect(client.heard[1]).to.deep.include({
      type: "heartbeat",
      indexed_block: 77,
      position: at(rows[2]),
    });
    expect(hire).to.deep.include({ type: "hire", position: at(rows[3]) });
    expect(hire?.data).to.deep.include({ seller, buyer, price_usdc: "0.50", outcome: "success", weight: 1 });
    expect(change?.data).to.deep.include({ agent: seller, from: 0, to: 2 });
  });

  it("reads the last messages once for clients that come and go", async () => {
    await insert(rows.slice(0, 3));
    let statements = 0;
    const db = new Proxy(database.db, {
      get: (of, name) => {
        if (name === "select" || name === "execute") statements++;
        const value = Reflect.get(of, name);
        return typeof value === "function" ? value.bind(of) : value;
      },
    });
    const { url } = await open({ db, pollMs: 60_000 });
    const counts: number[] = [];
    for (let n = 0; n < 3; n++) {
      const before = statements;
      const client = listen(url);
      await client.greeted();
      expect(client.heard[0]).to.deep.include({ type: "hello", head: at(rows[2]) });
      client.socket.terminate();
      await client.closed;
      counts.push(statements - before);
    }
    expect(counts[1]).to.be.below(counts[0] as number);
    expect(counts[2]).to.equal(counts[1]);
  });

  it("resumes after any position, from memory or from the database, without gaps or repetitions", async () => {
    await insert(rows);
    const { url } = await open();
    const all = await listen(`${url}?from=0`).until(rows.length);
    expect(all.map((it) => it.position)).to.deep.equal(rows.map(at));
    for (const [n, row] of rows.entries()) {
      const rest = await listen(`${url}?from=${at(row)}`).until(rows.length - n - 1);
      expect(rest).to.deep.equal(all.slice(n + 1));
    }
  });

  it("sends only the topics and the agent that the client requests", async () => {
    await insert(rows);
    const { url } = await open();
    const tiers = await listen(`${url}?from=0&topics=tiers,ratings`).until(3);
    expect(tiers.map((it) => it.type)).to.deep.equal(["rating", "tier_change", "tier_change"]);
    const client = listen(`${url}?from=0&agent=${other}`);
    const of = await client.until(4);
    expect(of.map((it) => it.data?.seller ?? it.data?.agent)).to.deep.equal([other, other, other, other]);
    const bought = await listen(
      `${url}?from=0&topics=hires&agent=${buyer.toUpperCase().replace("X", "x")}`,
    ).until(7);
    expect(bought).to.have.length(7);
  });

  it("reports what a reorg took back, and continues from there", async () => {
    await insert(rows.slice(0, 6));
    const { url } = await open();
    const client = listen(`${url}?from=0`);
    await client.until(6);
    await database.pool.query("DELETE FROM timeline WHERE position > $1", [rows[2]?.position]);
    await insert(rows.slice(4));
    const heard = await client.until(6 + 1 + 6);
    expect(heard[6]).to.deep.equal({ type: "reorg", position: at(rows[2]) });
    expect(heard.slice(7).map((it) => it.position)).to.deep.equal(rows.slice(4).map(at));
  });

  /** Timeline rows for one hire, each at a position of its own in a block. */
  const crowd = (block: number, count: number) => {
    const hire = rows.find(({ kind }) => kind === "hire") as (typeof rows)[number];
    const place = `${String(block).padStart(12, "0")}/${"0".repeat(8)}/${"0".repeat(16)}`;
    const blockHash = hashOf(block);
    return Array.from({ length: count }, (_, n) => ({ ...hire, position: timelineKey(place, n), blockHash }));
  };
  const finalAt = (block: number) =>
    database.pool.query(
      "UPDATE _ponder_checkpoint SET finalized_checkpoint = repeat('0', 26) || lpad($1, 16, '0') || repeat('9', 33)",
      [String(block)],
    );

  it("takes back a whole block, even if it has more events than the stream keeps in memory", async () => {
    const [final, before] = [crowd(100, 2), crowd(101, 300)];
    await finalAt(100);
    try {
      await insert([...final, ...before]);
      const { url } = await open();
      const client = listen(`${url}?from=0`);
      await client.until(302);
      const after = crowd(102, 300);
      await database.pool.query("DELETE FROM timeline WHERE position > $1", [final[1]?.position]);
      await insert(after);
      const heard = await client.until(302 + 1 + 300);
      expect(heard[302]).to.deep.equal({ type: "reorg", position: at(final[1]) });
      expect(heard.slice(303).map((it) => it.position)).to.deep.equal(after.map(at));
    } finally {
      await database.pool.query("UPDATE _ponder_checkpoint SET finalized_checkpoint = NULL");
    }
  });

  it("tells a client that comes back about a reorg that it did not see", async () => {
    const [final, orphaned, valid] = [crowd(100, 2), crowd(182, 2), crowd(181, 3)];
    await finalAt(140);
    try {
      await insert([...final, ...valid]);
      const { url } = await open();
      const heard = await listen(`${url}?from=${at(orphaned[1])}`).until(4);
      expect(heard[0]).to.deep.equal({ type: "reorg", position: at(final[1]) });
      expect(heard.slice(1).map((it) => it.position)).to.deep.equal(valid.map(at));
      await database.database.delete(schema.timeline);
      const cancelled = await listen(`${url}?from=${at(valid[0])}`).until(1);
      expect(cancelled).to.deep.equal([{ type: "reorg", position: "0" }]);
    } finally {
      await database.pool.query("UPDATE _ponder_checkpoint SET finalized_checkpoint = NULL");
    }
  });

  it("names in a heartbeat only a position up to which the client has got everything", async () => {
    await insert(crowd(101, 600));
    const { url } = await open({ heartbeatMs: 1_000, maxBuffered: 1_000_000 });
    const client = listen(`${url}?from=0`);
    await client.greeted();
    expect(client.heard[0]).to.deep.include({ type: "hello", position: "0" });
    expect(client.heard[1]).to.deep.include({ type: "heartbeat", position: "0" });
    await client.until(600);
    let last = "0";
    for (const { type, position } of client.heard) {
      if (type === "heartbeat") expect(position <= last, position).to.equal(true);
      else if (type !== "hello") last = position;
    }
    // A client may begin at any position that the node gave it.
    expect(await listen(`${url}?from=0`).until(600)).to.have.length(600);
  });

  it("sends heartbeats, and closes connections of clients that do not answer", async () => {
    // This is longer than any pause of this process, which runs both sides. With a shorter time, the stream could
    // disconnect a client whose answer is not read yet.
    const { url, stream } = await open({ heartbeatMs: 1_000 });
    const client = listen(url);
    await waitUntil(async () => client.heard.filter(({ type }) => type === "heartbeat").length >= 3, {
      what: "three heartbeats",
      withinMs: 120_000,
    });
    expect(stream.clients).to.equal(1);
    const silent = new WebSocket(url, { autoPong: false });
    const gone = new Promise<number>((resolve) => silent.on("close", resolve));
    expect(await gone).to.equal(1006);
    expect(client.socket.readyState).to.equal(WebSocket.OPEN);
  });

  it("answers a ping, and ends the connection of a client that floods it, whether or not the client reads", async () => {
    const { url, stream } = await open();
    const quiet = listen(url);
    await quiet.greeted();
    const answered = new Promise<string>((resolve) =>
      quiet.socket.once("pong", (data) => resolve(`${data}`)),
    );
    quiet.socket.ping("are you there?");
    expect(await answered).to.equal("are you there?");
    for (const readsNothing of [false, true]) {
      const flood = listen(url);
      await flood.greeted();
      expect(stream.clients).to.equal(2);
      if (readsNothing) flood.socket.pause();
      for (let n = 0; n < 1_000; n++) flood.socket.ping(Buffer.alloc(125));
      await waitUntil(async () => stream.clients === 1, { what: "the end of the flood", withinMs: 30_000 });
    }
    expect(quiet.socket.readyState).to.equal(WebSocket.OPEN);
  });

  it("refuses connections that are not for the stream, and clients above the limit", async () => {
    const { url, stream } = await open({ maxClients: 1 });
    const refusal = (target: string) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(target);
        socket.on("unexpected-response", (_, response) => {
          resolve(response.statusCode ?? 0);
          socket.terminate();
        });
        socket.on("error", () => {});
      });
    expect(await refusal(`${url}?topics=gossip`)).to.equal(400);
    expect(await refusal(`${url}?from=5`)).to.equal(400);
    expect(await refusal(url.replace("/v1/stream", "/v2/stream"))).to.equal(404);
    const client = listen(url);
    await client.greeted();
    expect(await refusal(url)).to.equal(503);
    stream.close();
    expect(await client.closed).to.deep.equal({ code: 1001, reason: "the node stops" });
  });
});
