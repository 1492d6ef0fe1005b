import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleRange } from "tallystick-protocol/merkle/merkleRange";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { FilePart } from "../../../services/settlement/ledger/filePart.ts";
import { hashOfLine, sealedLines } from "../support/sealedLines.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const lines = sealedLines(7);
const text = (from: number, to: number) =>
  lines
    .slice(from, to)
    .map((line) => `${line}\n`)
    .join("");
const startOf = (at: number) => text(0, at).length;
const hashAt = (at: number) => hashOfLine(lines[at] as string);

describe("a part of a ledger's file", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "ledger.jsonl");
  const write = (content: string) => writeFileSync(file(), content);

  it("has the leaves of its lines, the hash before them and the hash of the last, whatever was read before", () => {
    write(text(0, 7));
    const part = new FilePart(file());
    const whole = new MerkleRange(0);
    // The second part is longer than the first and the third.
    for (const [from, to] of [
      [0, 2],
      [2, 6],
      [6, 7],
    ] as const) {
      expect(part.read(startOf(from), startOf(to))).to.equal(to - from);
      const verified = part.verify();
      expect(verified).to.include({
        parent: from === 0 ? GENESIS_HASH : hashAt(from - 1),
        head: hashAt(to - 1),
      });
      const leaves = verified?.leavesFrom(from) ?? expect.fail();
      expect([leaves.from, leaves.to]).to.deep.equal([from, to]);
      whole.join(leaves);
    }
    const tree = new MerkleTree();
    for (const line of lines) tree.append(leafHash(Buffer.from(line)));
    expect(whole.root()).to.deep.equal(tree.root());
  });

  it("is doubtful if a line is changed, missing or in another layout", () => {
    const part = new FilePart(file());
    for (const content of [
      text(0, 3).replace("entry 1", "entry 9"),
      text(0, 1) + text(2, 3),
      text(0, 3).replace('"task_id": ', '"task_id":  '),
      `${text(0, 2)}\n`,
    ]) {
      write(content);
      expect(part.read(0, content.length), content).to.equal(content.split("\n").length - 1);
      expect(part.verify(), content).to.equal(undefined);
    }
  });

  it("has no lines, and is doubtful, if the file ends before it", () => {
    write(text(0, 3));
    const part = new FilePart(file());
    expect(part.read(0, startOf(2))).to.equal(2);
    expect([part.read(startOf(2), startOf(3) + 1), part.verify()]).to.deep.equal([0, undefined]);
    expect([part.read(startOf(3), startOf(3) + 9), part.verify()]).to.deep.equal([0, undefined]);
    expect(part.read(startOf(2), startOf(3))).to.equal(1);
    expect(part.verify()).to.include({ parent: hashAt(1), head: hashAt(2) });
  });

  it("is read into memory that is used again", () => {
    write(text(0, 7));
    const part = new FilePart(file());
    part.read(0, startOf(7));
    const { allocUnsafeSlow } = Buffer;
    Buffer.allocUnsafeSlow = () => expect.fail("more memory");
    try {
      expect(part.read(0, startOf(7))).to.equal(7);
      expect(part.read(startOf(1), startOf(3))).to.equal(2);
    } finally {
      Buffer.allocUnsafeSlow = allocUnsafeSlow;
    }
    expect(() => new FilePart(path.join(folder.path, "none")).read(0, 1)).to.throw("ENOENT");
  });
});
