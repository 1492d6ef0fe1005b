import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { TallystickError } from "tallystick-protocol/errors";
import { FileStore } from "../../../services/settlement/erc8004/fileStore.ts";
import { NoticeStore } from "../../../services/settlement/notices/noticeStore.ts";
import { openDatabase } from "../../../services/settlement/sqlite/openDatabase.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("a database beside the ledger", () => {
  const folder = temporaryFolder();
  const stores = { "notices.sqlite": NoticeStore, "erc8004.sqlite": FileStore };

  for (const [name, Store] of Object.entries(stores))
    it(`stops the start with its name and what to do if it is damaged (${name})`, () => {
      const file = path.join(folder.path, name);
      new Store(folder.path).close();
      const whole = readFileSync(file);
      // The head of the file is good, and the rest of the first page is not.
      const torn = Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100, 0xff)]);
      for (const damaged of [torn, Buffer.alloc(whole.length, "x")]) {
        writeFileSync(file, damaged);
        let thrown: unknown;
        try {
          new Store(folder.path).close();
        } catch (error) {
          thrown = error;
        }
        const { code, message, hint } = thrown as TallystickError;
        expect([code, message.includes(file), hint?.includes("move the file away")]).to.deep.equal([
          "database_damaged",
          true,
          true,
        ]);
        expect(readFileSync(file).equals(damaged)).to.equal(true);
      }
      rmSync(file);
      new Store(folder.path).close();
    });

  it("stops the start with what to do if its disk is full while a new version changes it, and loses no row", () => {
    const open = (most: number) =>
      openDatabase({
        ...{ folder: folder.path, name: "full.sqlite", loss: "" },
        tables: "CREATE TABLE IF NOT EXISTS kept (text TEXT)",
        migrate: (database) => {
          // SQLite answers in the same way when a disk is full.
          database.exec(`PRAGMA max_page_count = ${most}`);
          database.prepare("INSERT INTO kept VALUES (?)").run("x".repeat(100_000));
        },
      });
    const rows = (database: DatabaseSync) => database.prepare("SELECT count(*) AS n FROM kept").get()?.n;
    open(1_000).close();
    expect(() => open(30))
      .to.throw(path.join(folder.path, "full.sqlite"))
      .that.includes({
        code: "database_unavailable",
        hint: "Make room on its disk, and let the service read and write there. Then start it again: no row was lost.",
      });
    const later = open(1_000);
    expect(rows(later)).to.equal(2);
    later.close();
  });

  it("promises no rows if the disk fails, by any code of SQLite for it", () => {
    // The primary code, and those of a failed read and of a failed sync.
    for (const errcode of [10, 266, 1_034]) {
      const fail = () => {
        throw Object.assign(new Error("disk I/O error"), { errcode });
      };
      const file = { folder: folder.path, name: "failing.sqlite", tables: "", loss: "", migrate: fail };
      expect(() => openDatabase(file))
        .to.throw("disk I/O error")
        .that.includes({
          code: "database_unavailable",
          hint: "Check its disk (space, permissions, health), and start the service again. Only if the file is damaged, restore it from a copy that was made while the service was stopped.",
        });
    }
  });

  it("stops the start in the same way if its folder cannot be opened", () => {
    expect(() => new NoticeStore(path.join(folder.path, "none")))
      .to.throw("notices.sqlite cannot be opened")
      .with.property("code", "database_unavailable");
  });

  it("stops the start in the same way if only the pages after the first are damaged, which a new version reads", () => {
    new NoticeStore(folder.path).close();
    const file = path.join(folder.path, "notices.sqlite");
    const whole = readFileSync(file);
    writeFileSync(file, whole.fill(0xff, whole.readUInt16BE(16)));
    expect(() => new NoticeStore(folder.path))
      .to.throw(file)
      .with.property("code", "database_damaged");
  });
});
