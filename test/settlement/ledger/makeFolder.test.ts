import { chownSync, lstatSync, mkdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { makeFolder } from "../../../services/settlement/ledger/makeFolder.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the owner of folders that root makes for a service", () => {
  const folder = temporaryFolder();
  const own = process.getuid?.() ?? 0;
  /** The service's user. Only root can write for another one. */
  const service = own === 0 ? 54_321 : own;
  const at = (...names: string[]) => path.join(folder.path, ...names);

  it("is the service's user for every folder that is made, and for no other", async () => {
    mkdirSync(at("old"));
    chownSync(folder.path, service, lstatSync(folder.path).gid);
    await makeFolder(at("a", "b", "c"));
    for (const names of [["a"], ["a", "b"], ["a", "b", "c"]])
      expect(lstatSync(at(...names)).uid, names.join()).to.equal(service);
    await makeFolder(at("old"));
    expect(lstatSync(at("old")).uid).to.equal(own);
  });
});
