import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { installedPostgres, reachablePostgres } from "../../../scripts/postgres/postgresBinaries.ts";

describe("scripts/postgres/postgresBinaries", () => {
  let spare: string;

  beforeEach(() => {
    spare = mkdtempSync(path.join(tmpdir(), "tallystick-binaries-"));
  });

  afterEach(() => rmSync(spare, { recursive: true, force: true }));

  const version = (folder: string) =>
    spawnSync(path.join(folder, "bin", "postgres"), ["--version"], { encoding: "utf8" }).stdout;

  it("finds the PostgreSQL that npm installed for this machine", async () => {
    expect(version(await installedPostgres())).to.match(/^postgres \(PostgreSQL\) 18/);
  });

  it("uses the installed files, without a copy, for an ordinary user", async () => {
    expect(await reachablePostgres(undefined, spare)).to.equal(await installedPostgres());
  });

  it("copies the files, so that they can run, for a user who cannot reach them", async () => {
    // Only root can give files to another user. Other users copy for themselves.
    const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const stranger = self.uid === 0 ? { uid: 65534, gid: 65534 } : self;
    const folder = await reachablePostgres(stranger, spare, () => false);
    expect(folder).to.equal(path.join(spare, "native"));
    expect(version(folder)).to.match(/^postgres \(PostgreSQL\) 18/);
  });
});
