import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { defineParams } from "tallystick-protocol/records/params";
import { apiVersion, buildVersion } from "../../indexer/buildVersion.ts";

/** The folders whose code decides the rows. */
const DECIDE_ROWS = [
  "packages/protocol",
  "packages/derive",
  "packages/runtime",
  "indexer",
  "indexer/src/handlers",
  "indexer/src/segments",
];
const API = "indexer/api";

describe("the build version, which tells Ponder that it must index again", () => {
  let folder: string;
  const config = {
    params: defineParams(),
    registries: null,
    token: "0x4a",
    transfers: { form: "all" },
  } as const;
  const versions = () => ({ rows: buildVersion(config, folder), answers: apiVersion(config, folder) });

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-version-"));
    for (const room of [...DECIDE_ROWS, API]) {
      await mkdir(path.join(folder, room, "records"), { recursive: true });
      await writeFile(path.join(folder, room, "a.ts"), "1");
      await writeFile(path.join(folder, room, "records", "b.ts"), "2");
    }
  });
  after(() => rm(folder, { recursive: true }));

  it("stays the same while nothing that affects rows changes", async () => {
    const before = buildVersion(config, folder);
    await writeFile(path.join(folder, "packages/protocol", "notes.md"), "not source");
    expect(buildVersion({ ...config, params: defineParams() }, folder)).to.equal(before);
    expect(buildVersion(config)).to.match(/^[0-9a-f]{64}$/);
    expect(apiVersion(config)).to.match(/^[0-9a-f]{16}$/);
  });

  it("changes with the parameters", () => {
    const params = defineParams({ tickBlocks: 1 });
    expect(buildVersion({ ...config, params }, folder)).not.to.equal(buildVersion(config, folder));
  });

  it("changes with the registries that are read, and with their known implementations", () => {
    const [identity, reputation, more] = ["0x1a", "0x2a", "0x3a"] as const;
    const read = (implementations: `0x${string}`[]) =>
      buildVersion({ ...config, registries: { identity, reputation, implementations } }, folder);
    expect(new Set([buildVersion(config, folder), read([]), read([more])]).size).to.equal(3);
  });

  it("changes with the token of a relevant log, and with the block where its history begins", () => {
    const read = (token: `0x${string}`, firstBlock: number, history: { kind: "rpc"; url: string }[] = []) => {
      const transfers = { form: "relevant", firstBlock, history, agree: false, checkRounds: 100 } as const;
      return buildVersion({ ...config, token, transfers }, folder);
    };
    expect(new Set([read("0x4a", 0), read("0x4a", 1), read("0x5a", 0)]).size).to.equal(3);
    expect(read("0x4a", 0, [{ kind: "rpc", url: "http://other" }])).to.equal(read("0x4a", 0));
  });

  for (const room of DECIDE_ROWS) {
    it(`changes, like the version of answers, when one byte of ${room}/ changes or a source file moves`, async () => {
      const before = versions();
      await writeFile(path.join(folder, room, "records", "b.ts"), "3");
      const changed = versions();
      await rename(path.join(folder, room, "records", "b.ts"), path.join(folder, room, "records", "c.ts"));
      const moved = versions();
      expect(new Set([before.rows, changed.rows, moved.rows]).size).to.equal(3);
      expect(new Set([before.answers, changed.answers, moved.answers]).size).to.equal(3);
    });
  }

  it("stays the same when the API changes, but the version of answers changes", async () => {
    const before = versions();
    await writeFile(path.join(folder, API, "a.ts"), "3");
    const changed = versions();
    expect(changed.rows).to.equal(before.rows);
    expect(changed.answers).not.to.equal(before.answers);
  });
});
