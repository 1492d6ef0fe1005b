import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { runningServer } from "../../../scripts/postgres/postmasterPid.ts";

describe("scripts/postgres/postmasterPid", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-pid-"));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string) => writeFileSync(path.join(folder, "postmaster.pid"), text);

  it("reads pid and port of a running server", async () => {
    write(`${process.pid}\n${folder}\n1767225600\n20001\n\n127.0.0.1\n  1234 5\nready   \n`);
    expect(await runningServer(folder)).to.deep.equal({ pid: process.pid, port: 20001 });
  });

  it("finds nothing without the file, in an incomplete one, or when its process has ended", async () => {
    expect(await runningServer(folder)).to.equal(undefined);
    write(`${process.pid}\n${folder}\n`);
    expect(await runningServer(folder)).to.equal(undefined);
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    write(`${pid}\n${folder}\n1767225600\n20001\n`);
    expect(await runningServer(folder)).to.equal(undefined);
  });
});
