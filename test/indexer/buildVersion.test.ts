import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { defineParams } from "tallystick-protocol/records/params";
import { apiVersion, buildVersion } from "../../indexer/buildVersion.ts";

/** What decides rows. */
const DECIDE_ROWS = [
  "packages/protocol",
  "packages/derive",
  "packages/runtime",
  "indexer",
  "indexer/src/handlers",
  "indexer/src/segments",
];
const API = "indexer/api";

describe("the build version, by which Ponder knows that it has to index again", () => {
  let folder: string;
  const params = defineParams();
  const versions = () => ({ rows: buildVersion(params, folder), answers: apiVersion(params, folder) });

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-version-"));
    for (const room of [...DECIDE_ROWS, API]) {
      await mkdir(path.join(folder, room, "records"), { recursive: true });
      await writeFile(path.join(folder, room, "a.ts"), "1");
      await writeFile(path.join(folder, room, "records", "b.ts"), "2");
    }
  });
  after(() => rm(folder, { recursive: true }));

  it("stays the same while nothing that decides rows changes", async () => {
    const before = buildVersion(params, folder);
    await writeFile(path.join(folder, "packages/protocol", "notes.md"), "not source");
    expect(buildVersion(defineParams(), folder)).to.equal(before);
    expect(buildVersion(params)).to.match(/^[0-9a-f]{64}$/);
    expect(apiVersion(params)).to.match(/^[0-9a-f]{16}$/);
  });

  it("changes with the parameters", () => {
    expect(buildVersion(defineParams({ tickBlocks: 1 }), folder)).not.to.equal(buildVersion(params, folder));
  });

  for (const room of DECIDE_ROWS) {
    it(`changes when one byte of ${room}/ changes, or a source moves, and so does that of answers`, async () => {
      const before = versions();
      await writeFile(path.join(folder, room, "records", "b.ts"), "3");
      const changed = versions();
      await rename(path.join(folder, room, "records", "b.ts"), path.join(folder, room, "records", "c.ts"));
      const moved = versions();
      expect(new Set([before.rows, changed.rows, moved.rows]).size).to.equal(3);
      expect(new Set([before.answers, changed.answers, moved.answers]).size).to.equal(3);
    });
  }

  it("stays the same when the API changes, and that of answers does not", async () => {
    const before = versions();
    await writeFile(path.join(folder, API, "a.ts"), "3");
    const changed = versions();
    expect(changed.rows).to.equal(before.rows);
    expect(changed.answers).not.to.equal(before.answers);
  });
});
