import { writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { HELD_INDEX_FILE, HeldIndex } from "../../../services/settlement/engine/heldIndex.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the index of held proposals", () => {
  const folder = temporaryFolder();
  let index: HeldIndex;
  beforeEach(() => {
    index = new HeldIndex(folder.path);
  });
  afterEach(() => index.close());
  const file = () => path.join(folder.path, HELD_INDEX_FILE);
  const row = (n: number, task = "t") => ({
    ...{ id: `id ${n}`, task, timestamp: n + 0.5, divergence: 0.25, start: n * 10, length: 10 },
  });
  const add = (...numbers: number[]) => {
    for (const n of numbers) index.add(row(n));
    index.commit();
  };
  const counts = () => [index.size, index.waiting, index.end];
  const again = () => {
    index.close();
    index = new HeldIndex(folder.path);
  };

  it("counts what is held and what waits, and knows the end of the last line, also after a restart", () => {
    expect([...counts(), index.last()]).to.deep.equal([0, 0, 0, undefined]);
    add(0, 1, 2);
    expect(counts()).to.deep.equal([3, 3, 30]);
    index.reviewed("id 1", { index: 5, hash: "five" });
    index.reviewed("id 1", { index: 9, hash: "nine" });
    index.reviewed("unknown", { index: 9, hash: "nine" });
    index.add(row(0));
    index.commit();
    for (let n = 0; n < 2; n++) {
      expect(counts()).to.deep.equal([3, 2, 30]);
      expect(index.firstWaiting(10).map(({ id }) => id)).to.deep.equal(["id 0", "id 2"]);
      expect({ ...index.get("id 1") }).to.deep.equal({ ...row(1), waits: 0 });
      expect(index.get("unknown")).to.equal(undefined);
      expect({ ...index.lastReview() }).to.deep.equal({ index: 5, hash: "five" });
      again();
    }
  });

  it("knows the last review in the order of the ledger, and lets all wait again on request", () => {
    add(0, 1, 2);
    for (const [n, at] of [
      [0, 3],
      [1, 7],
      [2, 5],
    ] as const)
      index.reviewed(`id ${n}`, { index: at, hash: `hash ${at}` });
    index.commit();
    expect([index.waiting, { ...index.lastReview() }]).to.deep.equal([0, { index: 7, hash: "hash 7" }]);
    index.forgetReviews();
    index.commit();
    for (let n = 0; n < 2; n++) {
      expect([...counts(), index.lastReview()]).to.deep.equal([3, 3, 30, undefined]);
      again();
    }
  });

  it("gives all that wait, in the order of the file, also hundreds", () => {
    add(...Array.from({ length: 250 }, (_, n) => 249 - n));
    index.reviewed("id 100", { index: 0, hash: "" });
    const waiting = [...index.allWaiting()].map(({ start }) => start / 10);
    expect(waiting).to.deep.equal(Array.from({ length: 250 }, (_, n) => n).filter((n) => n !== 100));
    expect(index.firstWaiting(2).map(({ start }) => start)).to.deep.equal([0, 10]);
    expect(index.ofTask("t", 2).map(({ start }) => start)).to.deep.equal([2_490, 2_480]);
    expect(index.ofTask("other", 2)).to.deep.equal([]);
  });

  it("is made again if it is damaged or has another format, and on request", () => {
    add(0, 1);
    index.clear();
    expect(counts()).to.deep.equal([0, 0, 0]);
    add(0);
    index.close();
    const database = new DatabaseSync(file());
    database.exec("PRAGMA user_version = 9");
    database.close();
    index = new HeldIndex(folder.path);
    expect(counts(), "another format").to.deep.equal([0, 0, 0]);
    index.close();
    writeFileSync(file(), "hello".repeat(1_000));
    index = new HeldIndex(folder.path);
    expect(counts(), "no database").to.deep.equal([0, 0, 0]);
    add(0);
    again();
    expect(counts()).to.deep.equal([1, 1, 10]);
  });

  it("says so and counts only what is stored if the disk refuses a change", () => {
    add(0);
    const other = new DatabaseSync(file());
    other.exec("BEGIN IMMEDIATE");
    const refused = () => add(1);
    try {
      expect(refused)
        .to.throw(/^The index of held proposals cannot be used: database is locked\.$/)
        .that.includes({ code: "index_unavailable" })
        .with.property("hint")
        .that.matches(/held\.sqlite may be deleted\.$/);
      expect(() => index.reviewed("id 0", { index: 0, hash: "" }))
        .to.throw()
        .that.includes({ code: "index_unavailable" });
      expect(counts()).to.deep.equal([1, 1, 10]);
    } finally {
      other.exec("ROLLBACK");
      other.close();
    }
    add(1);
    expect(counts()).to.deep.equal([2, 2, 20]);
  });

  it("counts no change that was taken back, because a later one of the same transaction failed", () => {
    add(0);
    index.add(row(1));
    index.reviewed("id 0", { index: 0, hash: "" });
    expect(() => index.add({ ...row(2), task: null as never }))
      .to.throw()
      .that.includes({ code: "index_unavailable" });
    expect(counts()).to.deep.equal([1, 1, 10]);
  });
});
