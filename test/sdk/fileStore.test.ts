import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { rejection } from "./support/tamper.ts";

describe("a store in a folder", () => {
  const folder = temporaryFolder();
  const names = () => readdirSync(path.join(folder.path, "job")).sort();
  const put = (name: string, minutesOld: number): void => {
    const file = path.join(folder.path, "job", name);
    writeFileSync(file, "{");
    const then = new Date(Date.now() - minutesOld * 60_000);
    utimesSync(file, then, then);
  };

  for (const first of ["keys", "put"] as const) {
    it(`deletes only the old drafts of killed processes when it is first used (${first})`, async () => {
      await fileStore(folder.path).put("job/one", 1);
      const draft = (n: number) => `two.json.0000000${n}-1111-4111-8111-111111111111.tmp`;
      // Another process may still write the second draft. The other files have names that a store never gives.
      put(draft(1), 60);
      put(draft(2), 1);
      for (const name of ["notes.tmp", "two.json.tmp", "two.json.copy.tmp", "three.json"]) put(name, 60);
      const before = names();
      const store = fileStore(folder.path);
      await (first === "keys" ? store.keys("job") : store.put("job/four", 4));
      const kept = [...before.filter((name) => name !== draft(1)), ...(first === "put" ? ["four.json"] : [])];
      expect(names()).to.deep.equal(kept.sort());
      expect(await store.get("job/one")).to.equal(1);
    });
  }

  it("says which file cannot be read", async () => {
    const store = fileStore(folder.path);
    await store.put("job/damaged", 1);
    put("damaged.json", 0);
    mkdirSync(path.join(folder.path, "job", "folder.json"));
    for (const name of ["damaged", "folder"]) {
      const error = await rejection(store.get(`job/${name}`));
      expect(error).to.include({ code: "unreadable_value" });
      expect(error.message).to.contain(`job/${name}.json`);
    }
  });

  it("can be read only by its own account", async function () {
    // Windows has no such permissions.
    if (process.platform === "win32") this.skip();
    const place = path.join(folder.path, "new");
    await fileStore(place).put("job/one", 1);
    const modes = [place, path.join(place, "job"), path.join(place, "job", "one.json")].map(
      (it) => statSync(it).mode & 0o777,
    );
    expect(modes).to.deep.equal([0o700, 0o700, 0o600]);
  });
});
