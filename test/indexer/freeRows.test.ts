import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { FREEING, NAMING } from "../../indexer/src/freeRows.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** How Ponder decides whether a statement of a handler only reads rows. If it does not, it writes all rows, and forgets them. */
type SqlParse = {
  isReadonlySQLQuery: (sql: string) => Promise<boolean>;
  /** The tables whose rows Ponder writes before a statement that only reads. */
  getSQLQueryRelations: (sql: string) => Promise<Set<string>>;
};

describe("freeRows", () => {
  let ponder: SqlParse;
  before(async () => {
    // Ponder exports these functions to nobody.
    const file = path.join(repositoryRoot, "node_modules/ponder/dist/esm/utils/sql-parse.js");
    ponder = (await import(pathToFileURL(file).href)) as SqlParse;
  });

  it("uses a statement before which Ponder writes and forgets its rows", async () => {
    expect(await ponder.isReadonlySQLQuery("SELECT 1")).to.equal(true);
    expect(await ponder.isReadonlySQLQuery(FREEING)).to.equal(false);
  });

  it("has another statement for the transaction's name, before which Ponder writes and forgets nothing", async () => {
    expect(await ponder.isReadonlySQLQuery(NAMING)).to.equal(true);
    expect([...(await ponder.getSQLQueryRelations(NAMING))]).to.deep.equal([]);
  });
});
