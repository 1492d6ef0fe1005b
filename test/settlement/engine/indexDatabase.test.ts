import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { INDEX_FILE, IndexDatabase } from "../../../services/settlement/engine/indexDatabase.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const HEAD = "ab".repeat(32);
const position = (size: number) => ({ size, end: size * 10, head: HEAD });

describe("the database of an index", () => {
  const folder = temporaryFolder();
  let database: IndexDatabase;
  const open = (options: ConstructorParameters<typeof IndexDatabase>[1] = {}) => {
    database = new IndexDatabase(folder.path, options);
    return database;
  };
  beforeEach(() => open());
  afterEach(() => {
    try {
      database.close();
    } catch {
      // The test has closed it.
    }
  });
  /** Runs a statement as another process. */
  const asOther = (sql: string) => {
    const other = new DatabaseSync(path.join(folder.path, INDEX_FILE));
    try {
      return { ...other.prepare(sql).get() };
    } finally {
      other.close();
    }
  };
  /** Adds entries up to a size. */
  const grow = (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      database.ends().push((n + 1) * 10);
      database.hashes(0).push(new Uint8Array(32).fill(1 + (n % 250)));
    }
  };

  it("is marked as unclean on disk while it is open, and as clean after a complete close only", () => {
    const clean = () => asOther("SELECT clean FROM meta").clean;
    expect(clean()).to.equal(0);
    grow(0, 3);
    database.close(position(3));
    expect(clean()).to.equal(1);
    expect(open().position()).to.deep.equal(position(3));
    expect(clean()).to.equal(0);
    grow(3, 4);
    database.commit(position(4));
    expect([clean(), asOther("SELECT size FROM meta").size]).to.deep.equal([0, 4]);
    database.close();
    expect(clean()).to.equal(0);
  });

  it("commits after 512 entries, or after 16,384 if it is only for a comparison", () => {
    for (const [options, together] of [
      [{}, 512],
      [{ isScratch: true }, 16_384],
    ] as const) {
      database.close();
      open({ ...options, ledger: `0x${together.toString(16).padStart(64, "0")}` });
      for (let n = 1; n <= 2 * together; n++) {
        database.entryTaken(position(n));
        const expected = n < together ? 0 : n < 2 * together ? together : 2 * together;
        if (database.position().size !== expected) expect.fail(`${database.position().size} after ${n}`);
      }
    }
  });

  it("writes what was added since the last commit, and no piece twice", () => {
    grow(0, 300);
    database.commit(position(300));
    asOther("DELETE FROM piece RETURNING number");
    database.commit(position(300));
    expect(asOther("SELECT count(*) AS pieces FROM piece").pieces).to.equal(0);
    grow(300, 301);
    database.commit(position(301));
    expect(asOther("SELECT count(*) AS pieces FROM piece").pieces).to.equal(2);
  });

  it("goes back to the last commit, keeps the lists, and can be used then", () => {
    grow(0, 2);
    database.commit(position(2));
    database.prepare("INSERT INTO note VALUES ('n', 1)").run();
    grow(2, 3);
    for (let n = 0; n < 2; n++) {
      database.undo();
      expect(database.position()).to.deep.equal(position(2));
      expect(database.prepare("SELECT * FROM note").all()).to.deep.equal([]);
    }
    expect(database.ends().at(2)).to.equal(30);
    database.commit(position(3));
    database.close(position(3));
    expect([open().position(), database.ends().at(2), database.ends().at(0)]).to.deep.equal([
      ...[position(3), 30, 10],
    ]);
  });

  it("goes back also after SQLite itself has gone back", () => {
    database.commit(position(0));
    database.prepare("INSERT INTO note VALUES ('n', 1)").run();
    database.prepare("ROLLBACK").run();
    database.undo();
    expect(database.prepare("SELECT * FROM note").all()).to.deep.equal([]);
    database.commit(position(0));
  });

  it("has lists of its own for each level and for the ends, whose lengths follow from its size", () => {
    const hash = (n: number) => new Uint8Array(32).fill(n);
    grow(0, 33);
    for (const n of [7, 8]) database.hashes(1).push(hash(n));
    database.close(position(33));
    open();
    expect([0, 1].map((n) => database.hashes(1).at(n))).to.deep.equal([hash(7), hash(8)]);
    expect(database.hashes(0).at(4)).to.deep.equal(hash(5));
    // The first list of roots has one of every 16 leaves, so the next one is the third.
    database.hashes(1).push(hash(9));
    expect(database.hashes(1).at(2)).to.deep.equal(hash(9));
    database.ends().push(2 ** 53 - 1);
    expect(database.ends().at(33)).to.equal(2 ** 53 - 1);
  });

  it("of another ledger, and with another salt only if it is asked for, is made anew", () => {
    const { salt } = database;
    expect(salt).to.match(/^[0-9a-f]{32}$/);
    database.close(position(0));
    expect(open({ ledger: "local", salt: "other" }).salt, "it is kept").to.equal(salt);
    database.close(position(0));
    expect(open({ ledger: `0x${"11".repeat(32)}`, salt: "given" }).salt).to.equal("given");
    expect(asOther("SELECT ledger, format FROM meta")).to.deep.equal({
      ledger: `0x${"11".repeat(32)}`,
      format: 6,
    });
    database.close(position(0));
    expect(open().salt).not.to.equal("given");
  });

  it("is in memory without a folder, and then leaves nothing", () => {
    const inMemory = new IndexDatabase();
    expect(inMemory.position()).to.deep.equal({ size: 0, end: 0, head: "" });
    inMemory.ends().push(5);
    inMemory.commit(position(1));
    expect(inMemory.position()).to.deep.equal(position(1));
    inMemory.close(position(1));
  });
});
