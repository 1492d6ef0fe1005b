import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { ANCHOR_FILE, AnchorLog } from "../../../services/settlement/anchoring/anchorLog.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the memory of anchors", () => {
  const folder = temporaryFolder();
  const anchor = (size: number) => ({
    size,
    root: `0x${"ab".repeat(32)}` as const,
    transaction: `0x${size.toString(16).padStart(64, "0")}` as const,
  });

  it("has the last anchors after a restart, however many there are", async () => {
    const log = await AnchorLog.open(folder.path);
    expect(log.transactionOf(anchor(1))).to.equal(undefined);
    const many = Array.from({ length: 1_000 }, (_, i) => `${JSON.stringify(anchor(i + 1))}\n`);
    writeFileSync(path.join(folder.path, ANCHOR_FILE), many.join(""));
    const again = await AnchorLog.open(folder.path);
    expect(again.transactionOf(anchor(1_000))).to.equal(anchor(1_000).transaction);
    await again.add(anchor(1_001));
    expect((await AnchorLog.open(folder.path)).transactionOf(anchor(1_001))).to.equal(
      anchor(1_001).transaction,
    );
  });

  it("skips lines that a crash cut off, and returns no unknown anchors", async () => {
    const lines = `${JSON.stringify(anchor(5))}\n{"size": 6, "ro`;
    writeFileSync(path.join(folder.path, ANCHOR_FILE), lines);
    const log = await AnchorLog.open(folder.path);
    expect(log.transactionOf(anchor(5))).to.equal(anchor(5).transaction);
    expect(log.transactionOf({ ...anchor(5), root: `0x${"cd".repeat(32)}` })).to.equal(undefined);
    expect(log.transactionOf({ ...anchor(5), size: 4 })).to.equal(undefined);
    await log.add(anchor(7));
    expect((await AnchorLog.open(folder.path)).transactionOf(anchor(7))).to.equal(anchor(7).transaction);
  });
});
