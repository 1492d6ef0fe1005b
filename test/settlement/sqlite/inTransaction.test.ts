import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { SETTLEMENT_STATUS } from "../../../services/settlement/http/statusByCode.ts";
import { inTransaction } from "../../../services/settlement/sqlite/inTransaction.ts";

describe("a transaction in a file beside the ledger", () => {
  it("gives 503 and the time to ask again if the disk is full, and changes nothing", () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE kept (text TEXT); INSERT INTO kept VALUES ('before')");
    const rows = () => database.prepare("SELECT count(*) AS n FROM kept").get()?.n;
    const keep = (bytes: number) =>
      inTransaction(database, () => {
        database.exec("INSERT INTO kept VALUES ('small')");
        database.prepare("INSERT INTO kept VALUES (?)").run("x".repeat(bytes));
      });
    // SQLite answers in the same way when a disk is full.
    database.exec("PRAGMA max_page_count = 4");
    const error = errorOf(() => keep(100_000));
    expect(error).to.be.instanceOf(TallystickError).and.to.include({ code: "disk_unavailable" });
    expect(SETTLEMENT_STATUS[error.code]).to.equal(503);
    expect(error.details).to.deep.equal({ headers: { "retry-after": "60" } });
    expect([rows(), database.isTransaction]).to.deep.equal([1, false]);
    database.exec("PRAGMA max_page_count = 1000");
    keep(100_000);
    expect(rows()).to.equal(3);
    database.close();
  });

  it("throws other errors as they are, and changes nothing either", () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE kept (text TEXT UNIQUE)");
    const twice = () => database.exec("INSERT INTO kept VALUES ('a'); INSERT INTO kept VALUES ('a')");
    expect(() => inTransaction(database, twice)).to.throw("UNIQUE");
    expect(database.prepare("SELECT count(*) AS n FROM kept").get()?.n).to.equal(0);
    database.close();
  });
});

function errorOf(work: () => void): TallystickError {
  try {
    work();
  } catch (error) {
    return error as TallystickError;
  }
  return expect.fail("nothing was thrown");
}
