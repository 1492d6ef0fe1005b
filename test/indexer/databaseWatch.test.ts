import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
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

  it("counts a database with locked tables as one that answers, because an upgrade locks them", async () => {
    const { goesAwayDuring } = open("live");
    await waitUntil(async () => watch?.isReady, { what: "the first answer", withinMs: 60_000, everyMs: 10 });
    await client.query("BEGIN; LOCK TABLE live._ponder_meta IN ACCESS EXCLUSIVE MODE");
    const locked = client.query("SELECT pg_sleep(4)");
    expect(await goesAwayDuring(locked)).to.equal(false);
    expect([watch?.isAway, watch?.isReady]).to.deep.equal([false, true]);
    await client.query("ROLLBACK");
  });

  it("counts a database without the tables as one that answers", async () => {
    const { goesAwayDuring } = open("not_there");
    expect(await goesAwayDuring(client.query("SELECT pg_sleep(1)"))).to.equal(false);
    expect([watch?.isAway, watch?.isReady]).to.deep.equal([false, false]);
  });

  describe("when the database does not answer", () => {
    let proxy: Server;
    let sockets: Socket[];

    /** Puts a proxy in front of the database. A test can stop the proxy. */
    beforeEach(async () => {
      sockets = [];
      const { hostname, port } = new URL(databaseUrl);
      proxy = createServer((socket) => {
        const database = connect(Number(port || 5432), hostname);
        for (const it of [socket, database]) it.on("error", () => {});
        sockets.push(socket, database);
        socket.pipe(database).pipe(socket);
      });
      await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
      const { port: ours } = proxy.address() as { port: number };
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${ours}`;
      watch = watchDatabase({ databaseUrl: url.href, databaseSchema: "live" });
      await waitUntil(async () => watch?.isReady, {
        what: "the first answer",
        withinMs: 60_000,
        everyMs: 10,
      });
    });
    afterEach(() => {
      for (const it of sockets) it.destroy();
      proxy.close();
    });

    it("lets a request wait if it ends in less than two seconds, and refuses any other request", async () => {
      for (const it of sockets) it.unpipe();
      const began = performance.now();
      const [short, long] = await Promise.all([
        watch?.goesAwayDuring(sleep(1_200)),
        watch
          ?.goesAwayDuring(new Promise(() => {}))
          .then((away) => ({ away, ms: performance.now() - began })),
      ]);
      expect(short).to.equal(false);
      expect(long?.away).to.equal(true);
      expect(long?.ms).to.be.within(1_890, 10_000);
      await waitUntil(async () => watch?.isAway, { what: "to be away", withinMs: 60_000, everyMs: 10 });
    });

    it("counts the database as away at once when its connections end and it accepts no new connection", async () => {
      proxy.close();
      for (const it of sockets) it.destroy();
      expect(await watch?.goesAwayDuring(new Promise(() => {}))).to.equal(true);
      await waitUntil(async () => watch?.isAway, { what: "to be away", withinMs: 60_000, everyMs: 10 });
    });
  });
});
