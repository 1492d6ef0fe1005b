import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { queryObjects } from "node:v8";
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

  /**
   * Waits for a statement during which the watch counts the database as one that answers, and gives what the watch says
   * then. If this process or Postgres is stopped for some seconds, the database is away for a moment.
   */
  const stateDuring = ({ goesAwayDuring }: ReturnType<typeof open>, statement: string) =>
    waitUntil(
      async () => {
        if (await goesAwayDuring(client.query(statement))) return undefined;
        return watch && !watch.isAway && { isReady: watch.isReady };
      },
      { what: "a database that answers", withinMs: 120_000, everyMs: 1_000 },
    );

  it("counts a database with locked tables as one that answers, because an upgrade locks them", async () => {
    const opened = open("live");
    await waitUntil(async () => watch?.isReady, { what: "the first answer", withinMs: 60_000, everyMs: 10 });
    await client.query("BEGIN; LOCK TABLE live._ponder_meta IN ACCESS EXCLUSIVE MODE");
    try {
      expect(await stateDuring(opened, "SELECT pg_sleep(4)")).to.deep.equal({ isReady: true });
    } finally {
      await client.query("ROLLBACK");
    }
  });

  it("counts a database without the tables as one that answers", async () => {
    expect(await stateDuring(open("not_there"), "SELECT pg_sleep(1)")).to.deep.equal({ isReady: false });
  });

  it("keeps nothing in memory of a request that has ended", async () => {
    const { goesAwayDuring } = open("live");
    await waitUntil(async () => watch?.isReady, { what: "the first answer", withinMs: 60_000, everyMs: 10 });
    const before = queryObjects(Promise, { format: "count" });
    for (let n = 0; n < 5_000; n++) await goesAwayDuring(Promise.resolve());
    expect(queryObjects(Promise, { format: "count" }) - before).to.be.below(1_000);
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

    /** Stops the open connections, and gives what the watch says about a short request and an endless one. */
    const inSilence = async () => {
      for (const it of sockets) it.unpipe();
      const began = performance.now();
      const [short, long] = await Promise.all([
        watch?.goesAwayDuring(sleep(1_200)),
        watch
          ?.goesAwayDuring(new Promise(() => {}))
          .then((away) => ({ away, ms: performance.now() - began })),
      ]);
      return { short, long };
    };

    it("lets a request wait if it ends in less than two seconds, and refuses any other request", async () => {
      let { short, long } = await inSilence();
      // If this process or Postgres is stopped for some seconds, the database may be away before the short request ends.
      for (let n = 0; n < 5 && short !== false; n++) {
        const answers = async () => watch?.isAway === false;
        await waitUntil(answers, { what: "a new connection", withinMs: 60_000, everyMs: 10 });
        ({ short, long } = await inSilence());
      }
      expect(short).to.equal(false);
      expect(long?.away).to.equal(true);
      expect(long?.ms).to.be.within(1_890, 60_000);
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
