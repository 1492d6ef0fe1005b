import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { formatVerifierKey, noteVerifierKey } from "tallystick-protocol/note/signedNote";
import { formatVerifierKeys, parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";

const keyOf = (byte: number, name = "tallystick.test/keys") =>
  noteVerifierKey(name, ed25519.getPublicKey(new Uint8Array(32).fill(byte)));

describe("a ledger's verifier keys", () => {
  const [old, next] = [keyOf(1), keyOf(2)];
  const DAY = 1_767_225_600;

  it("are one line while there is one key, as before", () => {
    expect(formatVerifierKeys([old])).to.equal(`${formatVerifierKey(old)}\n`);
    expect(parseVerifierKeys(formatVerifierKeys([old]))).to.deep.equal([old]);
    expect(parseVerifierKeys(formatVerifierKey(old))).to.deep.equal([old]);
  });

  it("are two lines with dates while one key follows the other", () => {
    const keys = [
      { ...old, until: DAY + 30 * 86_400 },
      { ...next, from: DAY },
    ];
    const text = formatVerifierKeys(keys);
    expect(text).to.equal(
      `${formatVerifierKey(old)} until=2026-01-31T00:00:00Z\n${formatVerifierKey(next)} from=2026-01-01T00:00:00Z\n`,
    );
    expect(parseVerifierKeys(text)).to.deep.equal(keys);
  });

  for (const [what, text] of [
    ["nothing", ""],
    ["three keys", formatVerifierKeys([old, next, keyOf(3)])],
    ["keys of two names", formatVerifierKeys([old, keyOf(2, "tallystick.test/other")])],
    ["more than is known here", `${formatVerifierKey(old)} by=somebody`],
    ["an invalid time", `${formatVerifierKey(old)} until=2026-13-31T00:00:00Z`],
    ["a time in another form", `${formatVerifierKey(old)} until=1767225600`],
    ["a line without an end", `${formatVerifierKey(old)}${"A".repeat(1 << 20)}`],
  ]) {
    it(`are refused with ${what}`, () => {
      expect(() => parseVerifierKeys(text as string))
        .to.throw()
        .with.property("code", "invalid_input");
    });
  }
});
