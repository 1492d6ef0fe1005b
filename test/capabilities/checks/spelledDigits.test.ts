import { expect } from "chai";
import { digitOf, splitCompound } from "tallystick-capabilities/checks/spelledDigits";

describe("spelled digits", () => {
  it("are single words from 2 to 9", () => {
    expect(["zwei", "three", "δύο", "девять"].map(digitOf)).to.deep.equal(["2", "3", "2", "9"]);
    for (const word of ["one", "ten", "Zwei", "", "tom"]) expect(digitOf(word), word).to.equal(undefined);
  });

  it("may be written together with a scale of at least four letters", () => {
    const cases: [word: string, digit: string, rest: string][] = [
      ["dreihundert", "3", "hundert"],
      ["trecento", "3", "cento"],
      ["tohundrede", "2", "hundrede"],
      ["toabcd", "2", "abcd"],
      ["toabc", "", "toabc"],
      ["tom", "", "tom"],
      ["hundert", "", "hundert"],
      ["", "", ""],
    ];
    for (const [word, digit, rest] of cases) expect(splitCompound(word), word).to.deep.equal([digit, rest]);
  });
});
