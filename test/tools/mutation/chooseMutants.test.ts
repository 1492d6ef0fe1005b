import { expect } from "chai";
import {
  type Choosable,
  chooseMutants,
  fillChoice,
  groupMutants,
  PLACEHOLDER,
} from "../../../tools/mutation/chooseMutants.ts";
import type { Choice } from "../../../tools/mutation/mutant.ts";

describe("tools/mutation/chooseMutants", () => {
  const source = "if (a ≤ b) { pay(c); }";
  const bytes = Buffer.from(source);

  /** The mutant that replaces `original` in `within`. */
  const mutant = (
    within: string,
    original: string,
    replacement: string,
    form: Choice["form"] = "expression",
  ) => {
    const start = bytes.indexOf(within);
    const at = bytes.indexOf(original, start);
    return {
      id: `${original} → ${replacement}`,
      file: "A.sol",
      operator: "test",
      line: 1,
      start: at,
      end: at + Buffer.byteLength(original),
      original,
      replacement,
      choice: { form, start, end: start + Buffer.byteLength(within) },
    } satisfies Choosable;
  };

  const less = mutant("a ≤ b", "≤", "<");
  const more = mutant("a ≤ b", "≤", ">");
  const other = mutant("b", "b", "c");
  const silent = mutant("pay(c);", "pay(c);", "{}", "statement");

  it("puts mutants into one group, except mutants whose places overlap", () => {
    expect(groupMutants([less, more, other, silent], 9)).to.deep.equal([[less, more, silent], [other]]);
    expect(groupMutants([less, more, silent], 2)).to.deep.equal([[less, more], [silent]]);
  });

  it("makes code that chooses between the source and each mutant by a number", () => {
    const { text } = chooseMutants(source, [less, more, silent]);
    expect(text).to.equal(
      "if ((CHOSEN_MUTANT == 1 ? (a < b) : CHOSEN_MUTANT == 2 ? (a > b) : (a ≤ b))) " +
        "{ { if (CHOSEN_MUTANT == 3) { {} } else { pay(c); } } }\n" +
        `uint256 constant CHOSEN_MUTANT = 0x${PLACEHOLDER};\n`,
    );
  });

  it("makes such code in assembly too", () => {
    const one = mutant("c", "c", "add(c, 1)", "yulLiteral");
    expect(chooseMutants(source, [one]).text).to.contain("pay(add(c, eq(CHOSEN_MUTANT, 1)));");
    const none = mutant("pay(c);", "pay(c);", "", "yulStatement");
    expect(chooseMutants(source, [none]).text).to.contain("{ if iszero(eq(CHOSEN_MUTANT, 1)) { pay(c); } }");
  });

  it("gives the place of each mutant in the new text, in bytes", () => {
    const { text, places } = chooseMutants(source, [silent, less]);
    const found = places.map(({ start, end, mutants }) => [
      Buffer.from(text).subarray(start, end).toString(),
      mutants,
    ]);
    expect(found).to.deep.equal([
      ["(CHOSEN_MUTANT == 2 ? (a < b) : (a ≤ b))", [less]],
      ["{ if (CHOSEN_MUTANT == 1) { {} } else { pay(c); } }", [silent]],
    ]);
  });

  it("writes the chosen number to every place in the bytecode", () => {
    const word = (number: number) => number.toString(16).padStart(64, "0");
    expect(fillChoice(`7f${PLACEHOLDER}14${PLACEHOLDER}`, 26)).to.equal(`7f${word(26)}14${word(26)}`);
  });
});
