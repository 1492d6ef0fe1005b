import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { TallystickError } from "tallystick-protocol/errors";
import { FileStore } from "../../../services/settlement/erc8004/fileStore.ts";
import { NoticeStore } from "../../../services/settlement/notices/noticeStore.ts";
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
