import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { untilGone } from "../fixtures/gone.ts";

describe("scripts/postgres/startPostgres", () => {
  const servers: PostgresServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });

  async function start(...args: Parameters<typeof startPostgres>): Promise<PostgresServer> {
    const server = await startPostgres(...args);
    servers.push(server);
    return server;
  }

  /** A folder that the server's OS user can enter, also when root runs the tests. */
  function newFolder(): string {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-postgres-test-"));
    chmodSync(folder, 0o755);
    return path.join(folder, "db");
  }

  async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  it("gives an empty UTF-8 database of a real PostgreSQL, with the same settings on every machine, and requires the password", async () => {
    const server = await start();
    const url = await server.createDatabase("first one");
    const rows = await query(
      url,
      "select current_database() as db, version() as version, current_setting('server_encoding') as encoding, " +
        "datcollate as collation, current_setting('timezone') as zone, current_setting('random_page_cost') as jump from pg_database where datname = current_database()",
    );
    expect(rows[0]).to.include({
      db: "first one",
      encoding: "UTF8",
      collation: "C",
      zone: "UTC",
      jump: "1.1",
    });
    expect(rows[0]?.version).to.match(/^PostgreSQL 18/);

    // The server refuses another password.
    const other = new URL(server.url());
    other.password = "wrong";
    const error = await query(other.href, "select 1").catch((e: Error) => e);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.contain("password authentication failed");
  });

  it("runs several servers at the same time, and leaves no process, port or folder of a stopped one", async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.port).to.not.equal(two.port);
    const [row] = await query(one.url(), "select current_setting('data_directory') as folder");
    await one.stop();
    await untilGone({ pids: [one.pid], ports: [one.port], files: [path.dirname(String(row?.folder))] });
    expect(await query(two.url(), "select 1 as up")).to.deep.equal([{ up: 1 }]);
  });

  // The three tests share a folder, because making a database takes longer than all of them.
  describe("on a named folder", () => {
    let folder: string;
    before(() => {
      folder = newFolder();
    });
    after(() => rmSync(path.dirname(folder), { recursive: true, force: true }));
    const kept = (server: PostgresServer) => query(server.url(), "select n from kept");

    it("keeps a database from one start to the next", async () => {
      const first = await start({ folder });
      await query(first.url(), "create table kept as select 7 as n");
      await first.stop();
      const second = await start({ folder });
      expect(second.joined).to.equal(false);
      expect(await kept(second)).to.deep.equal([{ n: 7 }]);
    });

    it("joins the server that already runs there, and leaves it running", async () => {
      const owner = await start({ folder });
      const guest = await start({ folder });
      expect(guest).to.include({ joined: true, pid: owner.pid, port: owner.port });
      await guest.stop();
      expect(await query(owner.url(), "select 1 as up")).to.deep.equal([{ up: 1 }]);
    });

    it("starts there after its server was killed", async () => {
      const killed = await start({ folder });
      process.kill(killed.pid, "SIGKILL");
      await untilGone({ pids: [killed.pid], ports: [killed.port] });
      const next = await start({ folder });
      expect(next.joined).to.equal(false);
      expect(await kept(next)).to.deep.equal([{ n: 7 }]);
    });
  });
});
