import { truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import {
  type FileLine,
  LineTooLongError,
  ledgerLines,
  MAX_LINE_BYTES,
} from "../../../services/settlement/ledger/ledgerLines.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the lines of a file", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "lines");
  const read = async (end?: number, from?: number, pieceBytes?: number) => {
    const groups: [text: string, start: number, end: number, terminated: boolean][][] = [];
    for await (const lines of ledgerLines(file(), end, from, pieceBytes))
      groups.push(lines.map((line: FileLine) => [line.text, line.start, line.end, line.terminated]));
    return groups;
  };
  const flat = async (...of: Parameters<typeof read>) => (await read(...of)).flat();

  it("have their places in bytes, whatever the size of a piece", async () => {
    writeFileSync(file(), "one\n\nthree3\nfour");
    const all = [
      ["one", 0, 4, true],
      ["", 4, 5, true],
      ["three3", 5, 12, true],
      ["four", 12, 16, false],
    ];
    expect(await read()).to.deep.equal([all.slice(0, 3), all.slice(3)]);
    for (let piece = 1; piece <= 20; piece++)
      expect(await flat(undefined, undefined, piece)).to.deep.equal(all);
    expect(await read(undefined, undefined, 4)).to.deep.equal([[all[0]], [all[1]], [all[2]], [all[3]]]);
  });

  it("are read from a byte, and up to a byte", async () => {
    writeFileSync(file(), "one\n\nthree3\nfour\n");
    const three = ["three3", 5, 12, true];
    for (const piece of [1, 3, 100]) {
      expect(await flat(12, 5, piece)).to.deep.equal([three]);
      expect(await flat(10, 5, piece)).to.deep.equal([["three", 5, 10, false]]);
      expect(await flat(undefined, 5, piece)).to.deep.equal([three, ["four", 12, 17, true]]);
      expect(await flat(5, 5, piece)).to.deep.equal([]);
      expect(await flat(4, 5, piece)).to.deep.equal([]);
      expect(await flat(undefined, 17, piece)).to.deep.equal([]);
    }
  });

  it("are none in an empty file, and need no file for an empty range", async () => {
    expect(await flat(5, 5)).to.deep.equal([]);
    expect(await read().catch(({ code }) => code)).to.equal("ENOENT");
    writeFileSync(file(), "");
    expect(await flat()).to.deep.equal([]);
  });

  it("have a character for each byte, also for bytes that no canonical line has", async () => {
    writeFileSync(file(), Buffer.from([0xff, 0xc3, 0xa4, 0x0a]));
    expect(await flat()).to.deep.equal([["\u00ff\u00c3\u00a4", 0, 4, true]]);
  });

  it("are refused if one is longer than any entry, with the byte where it begins", async () => {
    expect(MAX_LINE_BYTES).to.equal(67_108_864);
    const piece = 1 << 20;
    writeFileSync(file(), "one\n");
    truncateSync(file(), 4 + MAX_LINE_BYTES);
    const long = await flat(undefined, undefined, piece);
    expect(long.map(([text, start]) => [text.length, start])).to.deep.equal([
      [3, 0],
      [MAX_LINE_BYTES, 4],
    ]);
    truncateSync(file(), 5 + MAX_LINE_BYTES);
    const error = await flat(undefined, undefined, piece).catch((it) => it);
    expect(error).to.be.instanceOf(LineTooLongError).and.include({
      code: "line_too_long",
      message: "The line that begins at byte 4 has more than 67108864 bytes.",
      hint: "A ledger has one entry on each line. This file is probably no ledger.",
    });
  });
});
