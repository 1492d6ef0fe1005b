import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { FREEING } from "../../indexer/src/freeRows.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** How Ponder decides whether a statement of a handler only reads rows. If it does not, it writes all rows, and forgets them. */
type SqlParse = { isReadonlySQLQuery: (sql: string) => Promise<boolean> };

describe("freeRows", () => {
  it("uses a statement before which Ponder writes and forgets its rows", async () => {
    // Ponder exports this function to nobody.
    const file = path.join(repositoryRoot, "node_modules/ponder/dist/esm/utils/sql-parse.js");
    const { isReadonlySQLQuery } = (await import(pathToFileURL(file).href)) as SqlParse;
    expect(await isReadonlySQLQuery("SELECT 1")).to.equal(true);
    expect(await isReadonlySQLQuery(FREEING)).to.equal(false);
  });
});
