import { chownSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { keepOwner } from "../../../services/settlement/ledger/keepOwner.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the owner of a file that root writes", () => {
  const folder = temporaryFolder();
  const own = process.getuid?.() ?? 0;
  /** The user of the service. Without root, a test has only its own user. */
  const service = own === 0 ? 54_321 : own;
  const give = (file: string) => chownSync(file, service, statSync(folder.path).gid);
  const at = (name: string): string => {
    const file = path.join(folder.path, name);
    writeFileSync(file, "");
    return file;
  };

  it("is the owner of the file behind the link that it replaces", async () => {
    const [target, file, link] = [at("target"), at("unfinished"), path.join(folder.path, "link")];
    give(target);
    symlinkSync(target, link);
    await keepOwner(file, link);
    expect(statSync(file).uid).to.equal(service);
  });

  it("is the owner of the folder if it replaces nothing, also behind a link to nothing", async () => {
    const place = path.join(folder.path, "place");
    mkdirSync(place);
    give(place);
    const [file, link] = [at("place/unfinished"), path.join(place, "link")];
    symlinkSync(path.join(place, "nothing"), link);
    await keepOwner(file, link);
    expect(statSync(file).uid).to.equal(service);
  });

  it("is not given to the file behind a link that the service has put in its place", async () => {
    const place = path.join(folder.path, "place");
    mkdirSync(place);
    give(place);
    const secret = at("secret");
    for (const target of [secret, path.join(place, "nothing")]) {
      const link = path.join(place, `link to ${path.basename(target)}`);
      symlinkSync(target, link);
      await keepOwner(link);
      expect(lstatSync(link).uid, link).to.equal(service);
    }
    expect(statSync(secret).uid).to.equal(own);
  });
});
