import { expect } from "chai";
import * as fc from "fast-check";
import { isAlike, looksOf, skeleton } from "tallystick-protocol/actions/plainText";

/** The other spellings that a disk without case can take as the same character: case mappings, each in any normal form. */
function sameOnDisk(sign: string): Set<string> {
  const inBothCases = (texts: Iterable<string>): Set<string> =>
    new Set([...texts].flatMap((it) => [it, it.toLowerCase(), it.toUpperCase()]));
  const forms = ["NFC", "NFD", "NFKC", "NFKD"].map((form) => sign.normalize(form));
  const twice = inBothCases(inBothCases([sign, ...forms]));
  const spellings = new Set([...twice].flatMap((it) => [it, it.normalize("NFC")]));
  spellings.delete(sign);
  return spellings;
}

const areAlike = (one: string, other: string): boolean => isAlike(looksOf(one), looksOf(other));

/**
 * Every character of Unicode that has other spellings, with these. A character that is equal to its NFKD form is also
 * equal to its other forms.
 */
function* characters(): Generator<[sign: string, spellings: Set<string>]> {
  for (let code = 0; code <= 0x10ffff; code++) {
    const sign = String.fromCodePoint(code);
    if (/[\p{Cn}\p{Co}\p{Cs}]/u.test(sign)) continue;
    const isAlone = [sign.normalize("NFKD"), sign.toLowerCase(), sign.toUpperCase()].every(
      (it) => it === sign,
    );
    if (!isAlone) yield [sign, sameOnDisk(sign)];
  }
}

describe("texts that a rule forbids", () => {
  it("have one form for every spelling that a disk without case takes as the same, for all characters of Unicode", () => {
    const faults: string[] = [];
    let count = 0;
    for (const [sign, spellings] of characters()) {
      count++;
      const own = skeleton(`x${sign}y`);
      for (const other of spellings) if (skeleton(`x${other}y`) !== own) faults.push(`${sign} ${other}`);
    }
    expect(faults).to.deep.equal([]);
    expect(count).to.be.above(10_000);
  });

  it("also have one form for characters that differ only in marks", () => {
    for (const [one, other] of [
      ["\u1fb3", "\u03b1\u03b9"],
      ["\u1fb3", "\u03b1"],
      ["\u1fbc", "\u0391\u0399"],
      ["\u1f84", "\u1f04"],
      ["caf\u00e9", "CAFE"],
      ["a\u0345", "a\u03b9"],
      ["a\u0345", "a"],
    ] as const)
      expect([areAlike(one, other), areAlike(other, one)], `${one} ${other}`).to.deep.equal([true, true]);
    expect(areAlike("\u03b1\u03b9", "\u03b1")).to.equal(false);
    expect(areAlike("ab", "a")).to.equal(false);
  });

  it("compare a text with itself and its own spellings as alike, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 12 }), (text) => {
        for (const other of [text, text.toLowerCase(), text.toUpperCase(), text.normalize("NFD")])
          if (!areAlike(text, other) || !areAlike(other, text)) return false;
        return true;
      }),
      { seed: 45, numRuns: 1_000 },
    );
  });
});
