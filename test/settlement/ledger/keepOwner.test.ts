import { chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { keepOwner } from "../../../services/settlement/ledger/keepOwner.ts";
import { makeFolder } from "../../../services/settlement/ledger/makeFolder.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the owner of what root writes for a service", () => {
  const folder = temporaryFolder();
  const own = process.getuid?.() ?? 0;
  /** The service's user. Only root can write for another one. */
  const service = own === 0 ? 54_321 : own;
  const at = (...names: string[]) => path.join(folder.path, ...names);
  const ownerOf = (file: string) => lstatSync(file).uid;

  it("is the service's user, who gets the target of no link", async () => {
    mkdirSync(at("ledger"));
    chownSync(at("ledger"), service, lstatSync(at("ledger")).gid);
    writeFileSync(at("secret"), "of root");
    writeFileSync(at("ledger", "file"), "");
    symlinkSync(at("secret"), at("ledger", "link"));
    symlinkSync(at("nothing"), at("ledger", "dangling"));
    for (const name of ["file", "link", "dangling"]) {
      await keepOwner(at("ledger", name));
      expect(ownerOf(at("ledger", name)), name).to.equal(service);
    }
    expect(ownerOf(at("secret"))).to.equal(own);
  });

  it("is the service's user for every folder that is made, and for no other", async () => {
    mkdirSync(at("old"));
    chownSync(folder.path, service, lstatSync(folder.path).gid);
    await makeFolder(at("a", "b", "c"));
    for (const names of [["a"], ["a", "b"], ["a", "b", "c"]])
      expect(ownerOf(at(...names)), names.join()).to.equal(service);
    await makeFolder(at("old"));
    expect(ownerOf(at("old"))).to.equal(own);
  });
});
