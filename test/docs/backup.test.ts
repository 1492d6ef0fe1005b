import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { CREATE_KEPT_LINES } from "../../indexer/keptLines.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

describe("the copies of a database in the documents", () => {
  it("have the tables, the cache of the chain, and the lines of ledgers", () => {
    const text = readFileSync(path.join(repositoryRoot, "docs/operators.md"), "utf8");
    const dumps = [...text.matchAll(/`pg_dump ([^`]*)`/g)].map(([, args = ""]) => args);
    expect(dumps).to.have.length(2);
    const [, kept = ""] = /TABLE IF NOT EXISTS (\w+)\./.exec(CREATE_KEPT_LINES) ?? [];
    for (const args of dumps) {
      const schemas = [...args.matchAll(/--schema (\w+)/g)].map(([, name]) => name);
      expect(schemas, args).to.have.members(["tallystick", "ponder_sync", kept]);
    }
  });
});
