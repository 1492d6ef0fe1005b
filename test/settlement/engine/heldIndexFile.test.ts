import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { HELD_INDEX_FILE, HeldIndex } from "../../../services/settlement/engine/heldIndex.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the file of the index of held proposals", () => {
  const folder = temporaryFolder();
  let index: HeldIndex;
  beforeEach(() => {
    index = new HeldIndex(folder.path);
  });
  afterEach(() => index.close());
  const at = (suffix = "") => path.join(folder.path, `${HELD_INDEX_FILE}${suffix}`);
  const row = (n: number) => ({
    ...{ id: `id ${n}`, task: "t", timestamp: n, divergence: 0.25, start: n * 10, length: 10 },
  });
  /** What another process reads: the number of rows, and of those that wait. */
  const onDisk = () => {
    const other = new DatabaseSync(at(), { readOnly: true });
    try {
      const found = other
        .prepare("SELECT count(*) AS size, coalesce(sum(waits), 0) AS waiting FROM held")
        .get();
      return [found?.size, found?.waiting];
    } finally {
      other.close();
    }
  };

  it("has what was committed, all together, and nothing before", () => {
    index.add(row(0));
    index.add(row(1));
    expect(onDisk()).to.deep.equal([0, 0]);
    index.commit();
    expect(onDisk()).to.deep.equal([2, 2]);
    index.reviewed("id 0", { index: 1, hash: "one" });
    expect(onDisk()).to.deep.equal([2, 2]);
    index.commit();
    expect(onDisk()).to.deep.equal([2, 1]);
    index.forgetReviews();
    expect(onDisk()).to.deep.equal([2, 1]);
    index.commit();
    index.commit();
    expect(onDisk()).to.deep.equal([2, 2]);
  });

  it("can be read while it is written, because it has a log, which the last close removes", () => {
    index.add(row(0));
    index.commit();
    expect(existsSync(at("-wal"))).to.equal(true);
    index.close();
    index.close();
    expect(readdirSync(folder.path)).to.deep.equal([HELD_INDEX_FILE]);
  });

  it("is closed before it is made again", () => {
    const { prepare } = DatabaseSync.prototype;
    const opened = new Set<DatabaseSync>();
    DatabaseSync.prototype.prepare = function (sql: string) {
      opened.add(this);
      return prepare.call(this, sql);
    };
    try {
      const other = new HeldIndex(folder.path);
      other.clear();
      expect([...opened].map(({ isOpen }) => isOpen)).to.deep.equal([false, true]);
      other.close();
    } finally {
      DatabaseSync.prototype.prepare = prepare;
    }
  });

  it("gives the reason if it cannot be opened or asked, in the words of SQLite or of the error", () => {
    expect(() => new HeldIndex(path.join(folder.path, "no folder")))
      .to.throw(/^The index of held proposals cannot be used: unable to open database file\.$/)
      .that.includes({ code: "index_unavailable" });
    expect(() => index.get(Symbol("id") as never))
      .to.throw(/^The index of held proposals cannot be used: .*cannot be bound.*\.$/)
      .that.includes({
        code: "index_unavailable",
        hint: "The operator checks the disk (space, permissions, health). While the service is stopped, held.sqlite may be deleted.",
      });
    index.add(row(0));
    expect(() => index.get(Symbol("id") as never)).to.throw("cannot be used");
    index.commit();
    expect([index.size, onDisk()]).to.deep.equal([0, [0, 0]]);
  });
});
