import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { buildVersion } from "../../indexer/buildVersion.ts";
import { defineParams } from "../../protocol/records/params.ts";

/** What decides rows outside the files that Ponder sees. */
const ROOMS = ["protocol", "runtime"];

describe("the build version, by which Ponder knows that it has to index again", () => {
  let folder: string;
  const params = defineParams();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-version-"));
    for (const room of ROOMS) {
      await mkdir(path.join(folder, room, "records"), { recursive: true });
      await writeFile(path.join(folder, room, "a.ts"), "1");
      await writeFile(path.join(folder, room, "records", "b.ts"), "2");
    }
  });
  after(() => rm(folder, { recursive: true }));

  it("stays the same while nothing that decides rows changes", async () => {
    const before = buildVersion(params, folder);
    await writeFile(path.join(folder, "protocol", "notes.md"), "not source");
    expect(buildVersion(defineParams(), folder)).to.equal(before);
    expect(buildVersion(params)).to.match(/^[0-9a-f]{64}$/);
  });

  it("changes with the parameters", () => {
    expect(buildVersion(defineParams({ tickBlocks: 1 }), folder)).not.to.equal(buildVersion(params, folder));
  });

  for (const room of ROOMS) {
    it(`changes when a source of ${room}/ changes or moves`, async () => {
      const before = buildVersion(params, folder);
      await writeFile(path.join(folder, room, "records", "b.ts"), "3");
      const changed = buildVersion(params, folder);
      await rename(path.join(folder, room, "records", "b.ts"), path.join(folder, room, "records", "c.ts"));
      expect(new Set([before, changed, buildVersion(params, folder)]).size).to.equal(3);
    });
  }
});
