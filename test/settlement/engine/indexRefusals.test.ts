import { existsSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { GENESIS_HASH, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import { INDEX_FILE } from "../../../services/settlement/engine/indexDatabase.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const hashOf = (n: number) => n.toString(16).padStart(64, "0");
const HINT =
  "The operator checks the disk (space, permissions, health). The index follows from the ledger: while the service is" +
  " stopped, index.sqlite may be deleted.";

/** Entry number `n`: a review, so that it changes a count, in a task that several entries share. */
const entryOf = (n: number): LedgerEntry => ({
  ...{ timestamp: n, taskId: `task ${n % 3}`, parentHash: GENESIS_HASH, currentHash: hashOf(n) },
  payload: {
    ...{ type: "review", signer: "0x", signature: "0x" },
    body: { type: "review", ledger: "local", proposal: `p${n} ${"x".repeat(2_000)}`, decision: "reject" },
  },
});
const read = async (at: number) => entryOf(at);

describe("an index whose file the disk refuses", () => {
  const folder = temporaryFolder();
  let index: LedgerIndex;
  let database: DatabaseSync;
  let behind: TallystickError[];
  let failures: Error[];
  const file = () => path.join(folder.path, INDEX_FILE);

  const open = () => {
    [behind, failures] = [[], []];
    index = new LedgerIndex(folder.path, {
      onBehind: (error) => behind.push(error),
      onFailure: (error) => failures.push(error),
    });
    const { prepare } = DatabaseSync.prototype;
    DatabaseSync.prototype.prepare = function (sql: string) {
      database = this;
      return prepare.call(this, sql);
    };
    try {
      expect(index.size).to.equal(0);
    } finally {
      DatabaseSync.prototype.prepare = prepare;
    }
  };
  beforeEach(() => open());
  afterEach(() => index.close());

  /** The disk has room for at most this number of pages more. */
  const leaveRoom = (pages: number) => {
    const { page_count } = database.prepare("PRAGMA page_count").get() as { page_count: number };
    database.exec(`PRAGMA max_page_count = ${page_count + pages}`);
  };
  const add = (from: number, to: number) => {
    const store = index.openStore();
    for (let n = from; n < to; n++) {
      const end = (n + 1) * 10;
      store.ends().push(end);
      store.hashes(0).push(new Uint8Array(32).fill(n + 1));
      index.add(entryOf(n), n, end);
    }
  };
  const codeOf = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return (error as TallystickError).code;
    }
    return undefined;
  };
  /** Every look-up, and the one step that writes. */
  const uses = (): (() => unknown)[] => [
    () => index.indexOfHash(hashOf(1)),
    () => index.indexOfRecord("k"),
    () => index.indexesOfTask("task 1", 9),
    () => index.newestListing("o"),
    () => index.consensus,
    () => index.reviewOf("p"),
    () => index.unfinishedReleases,
    () => index.releaseOf("r"),
    () => index.actionsWithin(9),
    () => index.contextSlice(["a"]),
    () => index.commit(),
  ];

  it("goes back to what is committed, refuses every look-up, and is complete again when it caught up", async () => {
    add(0, 4);
    index.commit();
    leaveRoom(6);
    add(4, 40);
    expect(behind).to.have.length(1);
    expect(index.behind).to.equal(behind[0]);
    expect(index.behind).to.include({
      ...{ code: "index_unavailable", hint: HINT },
      message: "The ledger's index cannot be used: database or disk is full.",
    });
    expect([index.size, index.reviews, index.outcomesFrom]).to.deep.equal([4, 4, 0]);
    expect(uses().map(codeOf)).to.deep.equal(Array(uses().length).fill("index_unavailable"));
    expect(await index.catchUp(read)).to.equal(false);
    expect([index.size, behind.length]).to.deep.equal([4, 1]);
    leaveRoom(10_000);
    expect(await index.catchUp(read)).to.equal(true);
    expect([index.behind, index.size, index.reviews]).to.deep.equal([undefined, 40, 40]);
    expect(index.indexesOfTask("task 1", 99)).to.have.length(13);
    // It is committed.
    index.close();
    index = new LedgerIndex(folder.path);
    expect([index.size, index.reviews, failures.length]).to.deep.equal([40, 40, 0]);
    expect(index.openStore().position()).to.deep.equal({ size: 40, end: 400, head: hashOf(39) });
  });

  it("says again that it is behind when the disk refuses it a second time", async () => {
    leaveRoom(6);
    add(0, 40);
    leaveRoom(10_000);
    expect(await index.catchUp(read)).to.equal(true);
    leaveRoom(6);
    add(40, 80);
    expect(behind).to.have.length(2);
  });

  it("is read at the next start from the last commit if it is still behind when it is closed", () => {
    add(0, 4);
    index.commit();
    leaveRoom(6);
    add(4, 40);
    index.close();
    index = new LedgerIndex(folder.path);
    expect([index.size, index.openStore().position().size]).to.deep.equal([4, 4]);
  });

  it("is deleted, and never used again, if its rows contradict an entry", () => {
    add(0, 1);
    index.add(entryOf(3), 3, 1);
    // This entry has rows already.
    index.add(entryOf(6), 3, 1);
    expect(failures.map(({ message }) => message)).to.deep.equal([
      "The ledger's index cannot be used: constraint failed.",
    ]);
    expect([index.behind, behind.length]).to.deep.equal([failures[0], 0]);
    expect(existsSync(file())).to.equal(false);
    expect(uses().map(codeOf)).to.deep.equal(Array(uses().length).fill("index_unavailable"));
  });

  it("is deleted, and the service told, if a look-up finds the file damaged", () => {
    add(0, 1);
    index.commit();
    const damaged = Object.assign(new Error("disk image is malformed"), {
      ...{ errcode: 11 | (1 << 8), errstr: "database disk image is malformed" },
    });
    const statement = Object.getPrototypeOf(database.prepare("SELECT 1"));
    const { get } = statement;
    statement.get = () => {
      throw damaged;
    };
    try {
      expect(() => index.indexOfHash(hashOf(0)))
        .to.throw("The ledger's index cannot be used: database disk image is malformed.")
        .that.includes({ code: "index_unavailable", cause: damaged });
    } finally {
      statement.get = get;
    }
    expect([failures.length, existsSync(file())]).to.deep.equal([1, false]);
    expect(() => index.indexOfHash(hashOf(0))).to.throw(failures[0]?.message);
  });

  it("stays whole if a look-up fails for another reason, and passes on other errors", () => {
    add(0, 1);
    const statement = Object.getPrototypeOf(database.prepare("SELECT 1"));
    const { get } = statement;
    const fail = (error: Error) => {
      statement.get = () => {
        throw error;
      };
      try {
        index.indexOfHash(hashOf(0));
      } catch (cause) {
        return cause;
      } finally {
        statement.get = get;
      }
      return undefined;
    };
    const busy = Object.assign(new Error("busy"), { errcode: 5, errstr: "database is locked" });
    expect(fail(busy)).to.include({ code: "index_unavailable", cause: busy });
    const other = new RangeError("no error of SQLite");
    expect(fail(other)).to.equal(other);
    expect([index.behind, behind.length, failures.length]).to.deep.equal([undefined, 0, 0]);
    expect(index.indexOfHash(hashOf(0))).to.equal(0);
  });

  it("needs a new start if it cannot even go back", () => {
    add(0, 1);
    index.commit();
    leaveRoom(0);
    const real = database.prepare.bind(database);
    database.prepare = (sql: string) => {
      if (sql === "SELECT * FROM meta") throw Object.assign(new Error("gone"), { errcode: 10 });
      return real(sql);
    };
    add(1, 40);
    expect(failures.map(({ message }) => message)).to.deep.equal([
      "The ledger's index cannot be used: gone.",
    ]);
    expect(behind).to.have.length(1);
  });

  it("gives the reason if its file cannot be opened", () => {
    index.close();
    index = new LedgerIndex(path.join(folder.path, "no folder"));
    expect(() => index.size)
      .to.throw(/^The ledger's index cannot be used: unable to open database file\.$/)
      .that.includes({ code: "index_unavailable", hint: HINT });
  });

  it("does not catch up with entries of an index that was closed, cleared or refused meanwhile", async () => {
    const wrong = new TallystickError({ code: "index_differs", message: "It differs." });
    for (const stop of [() => index.openStore().clear("it does not fit"), () => index.refuse(wrong)]) {
      leaveRoom(6);
      add(0, 40);
      leaveRoom(10_000);
      let reads = 0;
      const caught = index.catchUp(async (at) => {
        if (reads++ === 2) stop();
        return entryOf(at);
      });
      expect([await caught, reads]).to.deep.equal([false, 3]);
      index.close();
      open();
    }
  });

  it("that differs from the ledger is refused for good, and its file is deleted", async () => {
    add(0, 3);
    const wrong = new TallystickError({ code: "index_differs", message: "It differs." });
    index.refuse(wrong);
    expect(index.behind).to.equal(wrong);
    expect(existsSync(file())).to.equal(false);
    expect(uses().map(codeOf)).to.deep.equal(Array(uses().length).fill("index_differs"));
    expect(await index.catchUp(() => expect.fail("it reads"))).to.equal(false);
    add(3, 5);
    expect([index.size, index.behind]).to.deep.equal([3, wrong]);
  });

  it("keeps its facts at a normal end, and starts anew if it is cleared", () => {
    expect(index.ledgerName).to.equal("local");
    const { salt } = index;
    expect(salt).to.match(/^[0-9a-f]{32}$/);
    add(0, 3);
    index.close();
    index = new LedgerIndex(folder.path);
    expect([index.salt, index.size, index.reviews, index.outcomesFrom]).to.deep.equal([salt, 3, 3, 0]);
    const store = index.openStore();
    expect(store.position()).to.deep.equal({ size: 3, end: 30, head: hashOf(2) });
    store.clear("it does not fit");
    expect([index.size, index.reviews, index.outcomesFrom, index.toldHour]).to.deep.equal([
      ...[0, 0, undefined, undefined],
    ]);
    expect(index.salt).not.to.equal(salt);
    expect(store.position()).to.deep.equal({ size: 0, end: 0, head: "" });
  });

  it("in memory has no file that could be deleted", () => {
    index.close();
    index = new LedgerIndex();
    add(0, 3);
    index.openStore().clear("it does not fit");
    expect(index.size).to.equal(0);
    add(0, 3);
    index.refuse(new TallystickError({ code: "index_differs", message: "It differs." }));
    expect(index.behind).to.include({ code: "index_differs" });
  });
});
