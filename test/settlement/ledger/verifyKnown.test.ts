import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { FileLine } from "../../../services/settlement/ledger/ledgerLines.ts";
import { tailProblem, verifyBeginning } from "../../../services/settlement/ledger/verifyKnown.ts";
import { hashOfLine, sealedLines } from "../support/sealedLines.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const SIZE = 6;
const good = sealedLines(SIZE);
const endOf = (lines: string[]) => lines.join("\n").length + 1;

describe("the end of a ledger that a store knows", () => {
  let asked: number[][];
  beforeEach(() => {
    asked = [];
  });
  /** What `tailProblem` says of a store of `good` if the file has `lines`. */
  const problem = (
    lines: string[],
    tailEntries: number,
    known: { size?: number; end?: number; head?: string } = {},
    tree = treeOf(good),
  ) => {
    const linesOf = async function* (from: number, to: number): AsyncGenerator<FileLine[]> {
      asked.push([from, to]);
      const group = lines.slice(from, to).map((text, n) => {
        const start = endOf(lines.slice(0, from + n)) - (from + n === 0 ? 1 : 0);
        return { bytes: Buffer.from(text), text, start, terminated: true, end: start + text.length + 1 };
      });
      for (const line of group) yield [line];
    };
    const position = { size: SIZE, end: endOf(good), head: hashOfLine(good[SIZE - 1] as string), ...known };
    return tailProblem({ tree, linesOf }, position, tailEntries);
  };
  function treeOf(lines: string[]): MerkleTree {
    const tree = new MerkleTree();
    for (const line of lines) tree.append(leafHash(Buffer.from(line)));
    return tree;
  }

  it("has no problem in any length if the file is the one that was stored", async () => {
    for (let tail = 1; tail <= SIZE + 2; tail++)
      expect(await problem(good, tail), String(tail)).to.equal(undefined);
  });

  it("is read from the entry before it, and the first entry is read too", async () => {
    await problem(good, 2);
    expect(asked).to.deep.equal([
      [0, 1],
      [3, 4],
      [4, 6],
    ]);
    asked = [];
    await problem(good, SIZE);
    expect(asked).to.deep.equal([
      [0, 1],
      [0, 6],
    ]);
    asked = [];
    await problem(good, SIZE - 1);
    expect(asked).to.deep.equal([
      [0, 1],
      [0, 1],
      [1, 6],
    ]);
  });

  it("is of another file if the first entry, the one before the tail, or one of the tail differs", async () => {
    const other = sealedLines(SIZE, { 0: "other" });
    const replaced = (at: number) => good.map((line, n) => (n === at ? (other[at] as string) : line));
    expect(await problem(replaced(0), 2)).to.equal("entry 0 is another one");
    expect(await problem(replaced(3), 2)).to.equal("entry 3 is another one");
    // These two entries are not read now.
    expect(await problem(replaced(1), 2)).to.equal(undefined);
    expect(await problem(replaced(2), 2)).to.equal(undefined);
    // This line does not follow the one before it.
    expect(await problem(replaced(4), 2)).to.match(/^line 5: parent_hash /);
    const last = sealedLines(SIZE, { 5: "other" });
    expect(await problem(last, 2)).to.equal("entry 6 is another one");
  });

  it("has a problem if only its size, only its end, or only its hash is another one", async () => {
    const ends = "it does not end with entry 6";
    expect(await problem(good.slice(0, 5), 2)).to.equal(ends);
    expect(await problem(good, 2, { end: endOf(good) + 1 })).to.equal(ends);
    expect(await problem(good, 2, { head: GENESIS_HASH })).to.equal(ends);
    const before = { size: 5, end: endOf(good.slice(0, 5)), head: hashOfLine(good[4] as string) };
    expect(await problem(good, 2, before)).to.equal(undefined);
    expect(await problem(good, 2, { ...before, size: 4 })).to.equal("it does not end with entry 4");
    // The last line has its place and hash, but it is entry 5 and not 6.
    expect(await problem(good.slice(0, 5), 2, { ...before, size: 6 })).to.equal(ends);
  });

  it("has a problem, and throws nothing, if the store lacks a hash of its tree", async () => {
    const tree = { leaf: () => new Uint8Array(32), root: () => expect.fail("a hash is missing") };
    expect(await problem(good, 2, {}, tree as never)).to.equal("a hash is missing");
    expect(asked).to.deep.equal([]);
  });
});

describe("the beginning of a ledger's file", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "ledger.jsonl");
  const write = (lines: string[]) => writeFileSync(file(), lines.map((line) => `${line}\n`).join(""));
  const verify = (size: number, head = hashOfLine(good[size - 1] as string), options = {}) =>
    verifyBeginning(file(), { size, head, end: endOf(good.slice(0, size)) }, options);

  it("gives its root, whatever follows it", async () => {
    const tree = new MerkleTree();
    for (const line of good.slice(0, 4)) tree.append(leafHash(Buffer.from(line)));
    write(good.slice(0, 4));
    expect(await verify(4)).to.deep.equal(tree.root());
    write([...good.slice(0, 4), "what is behind is not read"]);
    const seen: number[] = [];
    expect(await verify(4, undefined, { onProgress: (lines: number) => seen.push(lines) })).to.deep.equal(
      tree.root(),
    );
    expect(seen).to.deep.equal([4]);
  });

  it("is refused if it is shorter, or if the next entry has another parent", async () => {
    write(good.slice(0, 4));
    const short = await verify(5).catch((it) => it);
    expect(short)
      .to.be.instanceOf(LedgerLineError)
      .with.property("message", "line 5: the file ends here, before entry 5");
    const other = await verify(4, GENESIS_HASH).catch((it) => it);
    expect(other)
      .to.be.instanceOf(LedgerLineError)
      .with.property(
        "message",
        `line 5: parent_hash is ${GENESIS_HASH}, but the entry before has ${hashOfLine(good[3] as string)}`,
      );
    write([good[0] as string, good[2] as string]);
    expect(await verify(2).catch((it) => it.line)).to.equal(2);
  });

  it("is not read to its end when the reader gives up", async () => {
    write(good);
    const signal = AbortSignal.abort(new Error("enough"));
    expect(await verify(4, undefined, { signal }).catch(({ message }) => message)).to.equal("enough");
  });
});
