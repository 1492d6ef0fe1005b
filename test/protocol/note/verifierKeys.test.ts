import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { formatVerifierKey, noteVerifierKey } from "tallystick-protocol/note/signedNote";
import { formatVerifierKeys, parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";

const keyOf = (byte: number, name = "tallystick.test/keys") =>
  noteVerifierKey(name, ed25519.getPublicKey(new Uint8Array(32).fill(byte)));

describe("a ledger's verifier keys", () => {
  const [old, next] = [keyOf(1), keyOf(2)];
  const DAY = 1_767_225_600;

  it("are one line while there is only one key", () => {
    expect(formatVerifierKeys([old])).to.equal(`${formatVerifierKey(old)}\n`);
    expect(parseVerifierKeys(formatVerifierKeys([old]))).to.deep.equal([old]);
    expect(parseVerifierKeys(formatVerifierKey(old))).to.deep.equal([old]);
  });

  it("are two lines with dates while one key replaces the other", () => {
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

  const ONE_A_LINE = "must have one verifier key on each line, and after it only from= and until=";
  const TIMES = "must have its times as 2026-01-31T00:00:00Z";
  for (const [what, text, words] of [
    ["nothing", "", ONE_A_LINE],
    [
      "three keys",
      formatVerifierKeys([old, next, keyOf(3)]),
      "must be at most 2 verifier keys, each on its own line",
    ],
    [
      "keys of two names",
      formatVerifierKeys([old, keyOf(2, "tallystick.test/other")]),
      "must be keys of one name",
    ],
    ["an unknown attribute", `${formatVerifierKey(old)} by=somebody`, ONE_A_LINE],
    ["a word before a key", `by ${formatVerifierKey(old)}`, ONE_A_LINE],
    ["its times in another order", `${formatVerifierKey(old)} until=x from=x`, ONE_A_LINE],
    ["times without a key", "from=2026-01-31T00:00:00Z", "must be a verifier key, name+hash+base64"],
    ["an invalid time", `${formatVerifierKey(old)} until=2026-13-31T00:00:00Z`, TIMES],
    ["a time in another form", `${formatVerifierKey(old)} until=1767225600`, TIMES],
    ["a time with text before it", `${formatVerifierKey(old)} from=on-2026-01-31T00:00:00Z`, TIMES],
    ["a year of six digits", `${formatVerifierKey(old)} from=+012026-01-31T00:00:00Z`, TIMES],
    ["a time with a remark", `${formatVerifierKey(old)} from=2026-01-31T00:00:00Z(x)`, TIMES],
    ["a time with text after it", `${formatVerifierKey(old)} from=2026-01-31T00:00:00Z+1`, TIMES],
    [
      "a line of a million characters",
      `${formatVerifierKey(old)}${"A".repeat(1 << 20)}`,
      /must be at most 2 verifier keys$/,
    ],
  ] as const) {
    it(`are refused with ${what}`, () => {
      expect(() => parseVerifierKeys(text, "keys"))
        .to.throw(InvalidInputError, words)
        .with.property("field", "keys");
      expect(() => parseVerifierKeys(text)).to.throw(/^key: /);
    });
  }

  it("may be two lines of a thousand characters each", () => {
    const longest = 2 * 1_001;
    const padded = (length: number) => formatVerifierKeys([old, next]).padEnd(length, "\n");
    expect(parseVerifierKeys(padded(longest))).to.deep.equal([old, next]);
    expect(() => parseVerifierKeys(padded(longest + 1))).to.throw(/^key: must be at most 2 verifier keys$/);
  });
});
