import { expect } from "chai";
import { toBase64 } from "tallystick-protocol/base64";
import { InvalidInputError } from "tallystick-protocol/errors";
import { formatCheckpoint, parseCheckpoint } from "tallystick-protocol/note/checkpoint";

const root = new Uint8Array(32).fill(7);
const text = (origin: string, size: string, hash = toBase64(root)) => `${origin}\n${size}\n${hash}\n`;

describe("the text of a checkpoint", () => {
  it("is the same after it is written and read, at every size", () => {
    for (const size of [0, 1, 10, Number.MAX_SAFE_INTEGER]) {
      const checkpoint = { origin: "log.example/1", size, root };
      expect(formatCheckpoint(checkpoint)).to.equal(text("log.example/1", String(size)));
      expect(parseCheckpoint(formatCheckpoint(checkpoint))).to.deep.equal(checkpoint);
    }
    expect(parseCheckpoint(`${text("a", "1")}an extension\n`)).to.deep.equal({ origin: "a", size: 1, root });
  });

  for (const [what, bad] of [
    ["nothing", ""],
    ["an origin alone", "a\n"],
    ["no root", "a\n1\n"],
    ["no newline at its end", text("a", "1").trimEnd()],
    ["no origin", text("", "1")],
    ["a size with a zero before it", text("a", "01")],
    ["a size with a sign", text("a", "-1")],
    ["a size with a word before it", text("a", "x1")],
    ["a size with a word behind it", text("a", "1x")],
    ["a size that is not a safe integer", text("a", "9007199254740992")],
    ["a root of 31 bytes", text("a", "1", toBase64(root.subarray(1)))],
    ["a root of 33 bytes", text("a", "1", toBase64(Uint8Array.of(...root, 7)))],
  ] as const) {
    it(`is refused with ${what}`, () => {
      expect(() => parseCheckpoint(bad, "head"))
        .to.throw(
          InvalidInputError,
          "must be three lines: origin, size and base 64 root (C2SP tlog-checkpoint)",
        )
        .with.property("field", "head");
      expect(() => parseCheckpoint(bad)).to.throw(/^checkpoint: must be three lines: origin/);
    });
  }

  it("is refused with a root that is not base 64, and the error says so", () => {
    expect(() => parseCheckpoint(text("a", "1", "!"))).to.throw(/^checkpoint: .*base 64/);
  });
});
