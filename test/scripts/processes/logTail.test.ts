import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { logTail } from "../../../scripts/processes/logTail.ts";

describe("scripts/processes/logTail", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-log-"));
  const file = path.join(folder, "log");

  after(() => rmSync(folder, { recursive: true, force: true }));

  it("gives the last lines without colours, of a log of any size", () => {
    writeFileSync(file, `${"noise\n".repeat(100_000)}\u001b[31mone\u001b[0m\ntwo\n`);
    expect(logTail(file, 2)).to.equal("one\ntwo");
  });

  it("is empty without a log", () => {
    expect(logTail(path.join(folder, "none"), 5)).to.equal("");
  });
});
