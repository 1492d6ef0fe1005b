import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

describe("readWholeLines", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-"));
  });
  after(() => rm(folder, { recursive: true }));

  async function read(content: string): Promise<string[]> {
    const file = path.join(folder, "log");
    await writeFile(file, content);
    const texts: string[] = [];
    for await (const text of readWholeLines(file)) texts.push(text);
    return texts;
  }

  it("returns whole lines if a read of the file ends inside a line or inside a character, with each kind of line ending", async () => {
    // A read has at most 1 MiB. With "\n" the first reads end between the two bytes of an "é". With "\r\n" they end
    // between two characters of a line.
    const lines = Array.from({ length: 40_000 }, (_, n) => "é".repeat(n % 97));
    lines.push("x".repeat(3 << 20), "last");
    for (const end of ["\n", "\r\n"]) {
      const texts = await read(lines.join(end));
      expect(texts.length).to.be.greaterThan(2);
      expect(texts.join("\n").split("\n")).to.deep.equal(lines);
      expect((await read(lines.join(end) + end)).join("\n").split("\n")).to.deep.equal(lines);
    }
    expect(await read("")).to.deep.equal([]);
  });

  it("gives up on a line that is longer than any event, before the memory is full", async () => {
    const endless = path.join(folder, "endless");
    await writeFile(endless, "{}\n");
    // A sparse file takes no space on the disk.
    await truncate(endless, 64 << 20);
    const texts: string[] = [];
    const error = await (async () => {
      for await (const text of readWholeLines(endless)) texts.push(text);
    })().catch((it) => it);
    expect(error).to.include({ code: "line_too_long" });
    expect(error.message).to.contain("Line 2 ");
    expect(texts).to.deep.equal(["{}"]);
  });

  it("reports an unreadable file only when the first text is read, even if that is long after the call", async () => {
    for (const file of [path.join(folder, "missing"), folder]) {
      const texts = readWholeLines(file);
      await new Promise((resolve) => setImmediate(resolve));
      const error = await texts.next().catch((it) => it);
      expect(error).to.include({ code: "unreadable_file" });
      expect(error.message).to.contain(file);
    }
  });
});
