import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { secondsLeft } from "../../../scripts/upgrade/catchUp.ts";
import { roomIssues } from "../../../scripts/upgrade/checkRoom.ts";
import { runUpgrade } from "../../../scripts/upgrade/runUpgrade.ts";
import { checkSchemaNames, viewNames } from "../../../scripts/upgrade/schemaNames.ts";
import { switchStatement } from "../../../scripts/upgrade/switchStatement.ts";

describe("scripts/upgrade, without a database", () => {
  const views = viewNames("tallystick_live");
  const refused = (name: string) => {
    try {
      checkSchemaNames({ "--schema": name }, views);
      return undefined;
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidInputError).that.includes({ code: "invalid_schema_name" });
      return (error as InvalidInputError).issues[0]?.field;
    }
  };

  it("refuses invalid names, and names that are not for an indexer's tables", () => {
    const hostile = [
      'x"; DROP SCHEMA public; --',
      "x'y",
      "a$$b",
      "a%1$Ib",
      "a.b",
      "a b",
      "a\nb",
      "a\0b",
      "ä",
    ];
    const mistaken = ["", "Tallystick", "1a", "-x", "a".repeat(46), "tallystick-v2"];
    const others = ["public", "ops", "ponder_sync", "information_schema", "pg_catalog", "pg_x"];
    for (const name of [...hostile, ...mistaken, ...others, ...Object.values(views)])
      expect(refused(name), name).to.equal("--schema");
    for (const name of ["tallystick_v2", "_", "a".repeat(45), "user"])
      expect(refused(name), name).to.equal(undefined);
  });

  it("refuses such a name before it reads settings or the database, in every option", async () => {
    const options = { envFile: "/nowhere/.env", port: 1, logs: "", replica: [], within: 1 };
    const hostile = 'x"; DROP SCHEMA tallystick CASCADE; --';
    for (const option of ["schema", "views", "abandon", "makeViews"]) {
      const error = await runUpgrade({ ...options, [option]: hostile }).catch((it) => it);
      expect(error, option).to.have.property("code", "invalid_schema_name");
    }
  });

  it("derives the names of the other views from those of the live ones", () => {
    expect(viewNames("tallystick_live")).to.deep.equal({
      live: "tallystick_live",
      next: "tallystick_next",
      before: "tallystick_before",
    });
    expect(viewNames("market")).to.deep.equal({
      live: "market",
      next: "market_next",
      before: "market_before",
    });
  });

  it("runs the statement of the docs", () => {
    const text = readFileSync(path.join(repositoryRoot, "docs/operators.md"), "utf8");
    const [, shown = ""] = /```sql\n([\s\S]*?)```/.exec(text) ?? [];
    expect(shown.replaceAll(/^ {3}/gm, "")).to.equal(switchStatement("tallystick_v2", views));
  });

  it("estimates the remaining time from the pace so far, and gives none without progress", () => {
    expect(secondsLeft({ first: 1_000, behind: 250, elapsedMs: 30_000 })).to.equal(10);
    expect(secondsLeft({ first: 1_000, behind: 1_000, elapsedMs: 30_000 })).to.equal(null);
    expect(secondsLeft({ first: 1_000, behind: 1_001, elapsedMs: 30_000 })).to.equal(null);
    expect(secondsLeft({ first: undefined, behind: 5, elapsedMs: 30_000 })).to.equal(null);
  });

  it("finds too few connections and too small a disk, and accepts unknown values", () => {
    const room = { bytesNeeded: 100e6, bytesFree: 120e6, connectionsFree: 15 };
    const fields = (more: object) => roomIssues({ ...room, ...more }).map(({ field }) => field);
    expect(fields({})).to.deep.equal([]);
    expect(fields({ bytesFree: undefined })).to.deep.equal([]);
    expect(fields({ bytesFree: 119e6, connectionsFree: 14 })).to.deep.equal(["max_connections", "disk"]);
  });
});
