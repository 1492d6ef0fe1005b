import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { loadLedger } from "../../../services/settlement/ledger/loadLedger.ts";
import { hashOfLine, sealedLines } from "../support/sealedLines.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the file of a ledger, when it is loaded", () => {
  const folder = temporaryFolder();
  const lines = sealedLines(4);
  const file = () => path.join(folder.path, "ledger.jsonl");
  const torn = () => path.join(folder.path, "ledger.torn");
  const text = (of: readonly string[]) => of.map((line) => `${line}\n`).join("");
  let seen: [task: string, leaf: string, end: number][];
  const load = (known?: { size: number; end: number; head: string }) => {
    seen = [];
    return loadLedger(
      file(),
      (entry, leaf, end) => seen.push([entry.taskId, toHex(leaf), end]),
      ...(known ? [known] : []),
    );
  };
  const expected = (of: number[]) =>
    of.map((n) => [
      `task ${n}`,
      toHex(leafHash(Buffer.from(lines[n] as string))),
      text(lines.slice(0, n + 1)).length,
    ]);

  it("is made if it is missing", async () => {
    expect(await load()).to.equal(undefined);
    expect([readFileSync(file(), "latin1"), seen]).to.deep.equal(["", []]);
  });

  it("gives every entry with its leaf and the byte after its line", async () => {
    writeFileSync(file(), text(lines));
    expect(await load()).to.equal(undefined);
    expect(seen).to.deep.equal(expected([0, 1, 2, 3]));
    const known = {
      ...{ size: 2, end: text(lines.slice(0, 2)).length, head: hashOfLine(lines[1] as string) },
    };
    expect(await load(known)).to.equal(undefined);
    expect(seen).to.deep.equal(expected([2, 3]));
    expect(readFileSync(file(), "latin1")).to.equal(text(lines));
    expect(existsSync(torn())).to.equal(false);
  });

  it("loses a last line that a crash left half written, whose bytes are kept beside it", async () => {
    const whole = text(lines.slice(0, 2));
    for (const [n, length] of [1, 30].entries()) {
      writeFileSync(file(), whole + (lines[2] as string).slice(0, length));
      expect(await load()).to.deep.equal({ kind: "cut", line: 3, bytes: length });
      expect(seen).to.deep.equal(expected([0, 1]));
      expect(readFileSync(file(), "latin1")).to.equal(whole);
      expect(readFileSync(torn(), "latin1").split("\n")).to.have.length(n + 2);
    }
    expect(readFileSync(torn(), "latin1")).to.equal(`{\n${(lines[2] as string).slice(0, 30)}\n`);
    const known = { size: 2, end: whole.length, head: hashOfLine(lines[1] as string) };
    writeFileSync(file(), `${whole}{`);
    expect(await load(known)).to.deep.equal({ kind: "cut", line: 3, bytes: 1 });
  });

  it("loses such a line also if its bytes cannot be kept", async () => {
    mkdirSync(torn());
    writeFileSync(file(), `${text(lines.slice(0, 1))}{"current`);
    expect(await load()).to.deep.equal({ kind: "cut", line: 2, bytes: 9 });
    expect(readFileSync(file(), "latin1")).to.equal(text(lines.slice(0, 1)));
  });

  it("gets the newline that a complete last line lacks", async () => {
    writeFileSync(file(), text(lines).slice(0, -1));
    expect(await load()).to.deep.equal({ kind: "completed", line: 4, bytes: 1 });
    expect(seen).to.deep.equal(expected([0, 1, 2, 3]));
    expect(readFileSync(file(), "latin1")).to.equal(text(lines));
    expect(existsSync(torn())).to.equal(false);
  });

  it("stays as it is if any other line is bad, which is named", async () => {
    const [a, b, c] = lines as [string, string, string];
    const other = sealedLines(3, { 2: "other" })[2] as string;
    for (const [content, line] of [
      // A line with a newline was reported as settled.
      [`${a}\n${b.slice(0, 40)}\n`, 2],
      [`${a}\n${b.slice(0, 40)}\n${c}\n`, 2],
      [`${a}\n${c}\n`, 2],
      // This line is complete and belongs elsewhere, so no crash made it.
      [`${a}\n${c}`, 2],
      [`${a}\n${b}\n${other.replace("other", "outer")}`, 3],
    ] as const) {
      writeFileSync(file(), content);
      const error = await load().catch((it) => it);
      expect(error, content).to.be.instanceOf(LedgerLineError).with.property("line", line);
      expect(readFileSync(file(), "latin1")).to.equal(content);
      expect(existsSync(torn())).to.equal(false);
    }
  });
});
