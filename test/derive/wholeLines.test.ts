import { expect } from "chai";
import fc from "fast-check";
import { readParts } from "tallystick-derive/logParts";
import { LogReader } from "tallystick-derive/logReader";
import { wholeLines } from "tallystick-derive/wholeLines";

async function* from<T>(items: Iterable<T>, failure?: Error): AsyncGenerator<T> {
  yield* items;
  if (failure !== undefined) throw failure;
}

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const it of items) all.push(it);
  return all;
};

const failureOf = (items: AsyncIterable<unknown>) =>
  collect(items).then(
    () => undefined,
    (error) => error,
  );

describe("the whole lines of a text in pieces", () => {
  it("are the lines of the text, wherever its pieces end", async () => {
    const piece = fc
      .array(fc.constantFrom("a", "bc", "\n", "\r\n", ""), { maxLength: 5 })
      .map((it) => it.join(""));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const texts = await collect(wholeLines("log", from(pieces)));
        const lines = pieces.join("").replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
        const isEmpty = pieces.join("") === "";
        expect(texts.flatMap((it) => it.split("\n"))).to.deep.equal(isEmpty ? [] : lines);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("may have four million characters, and the error says which line has more", async () => {
    const most = "a".repeat(4 << 20);
    expect(await collect(wholeLines("log", from([most])))).to.deep.equal([most]);
    expect(await collect(wholeLines("log", from(["x\ny\n", most, "\nz"])))).to.deep.equal([
      "x\ny",
      most,
      "z",
    ]);
    const error = await failureOf(wholeLines("log", from(["x\ny\n", most, "a"])));
    expect(error).to.include({
      code: "line_too_long",
      message: `Line 3 of log has more than ${4 << 20} characters.`,
    });
  });

  it("end with an error that names the file if it cannot be read, and with any other error as it is", async () => {
    const unreadable = Object.assign(new Error("no such file"), { syscall: "open" });
    const error = await failureOf(wholeLines("events.jsonl", from(["a\n"], unreadable)));
    expect(error).to.include({ code: "unreadable_file", cause: unreadable });
    expect(error.message).to.equal("events.jsonl cannot be read: no such file");
    const other = new Error("other");
    expect(await failureOf(wholeLines("log", from(["a\n"], other)))).to.equal(other);
  });
});

describe("the parts of a log", () => {
  const lineOf = (n: number, padding = "") => JSON.stringify({ kind: "tick", block: n, time: n, padding });

  it("have 256 lines, or fewer lines with many characters, and know the number of their first line", async () => {
    const lines = Array.from({ length: 600 }, (_, n) => lineOf(n + 1));
    const texts = [lines.slice(0, 300).join("\n"), ...lines.slice(300)];
    const parts = await collect(readParts(from(texts), new LogReader()));
    expect(parts.map(({ first, events, failure }) => [first, events.length, failure])).to.deep.equal([
      [1, 256, undefined],
      [257, 256, undefined],
      [513, 88, undefined],
    ]);
    expect(parts.map(({ size }) => size)).to.deep.equal(
      [lines.slice(0, 256), lines.slice(256, 512), lines.slice(512)].map((it) => it.join("").length),
    );
    const long = (n: number) => lineOf(n, "x".repeat((1 << 17) - lineOf(n).length));
    const large = [long(1), long(2), long(3)];
    const largeParts = await collect(readParts(from(large), new LogReader()));
    expect(largeParts.map(({ first, events }) => [first, events.length])).to.deep.equal([
      [1, 2],
      [3, 1],
    ]);
  });

  it("keep the error of reading for the end, after the lines before it", async () => {
    const broken = await collect(readParts(from([`${lineOf(1)}\n\nnot JSON`]), new LogReader()));
    expect(broken.map(({ events }) => events.map((it) => it?.kind))).to.deep.equal([["tick", undefined]]);
    expect(broken[0]?.failure).to.include({ code: "invalid_event" });
    const failure = new Error("lost");
    const lost = await collect(readParts(from([lineOf(1)], failure), new LogReader()));
    expect(lost.map((it) => [it.events.length, it.failure])).to.deep.equal([[1, failure]]);
    const [empty] = await collect(readParts(from([""]), new LogReader()));
    expect(empty?.failure).to.include({ code: "empty_log" });
  });
});
