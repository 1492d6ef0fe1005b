import { expect } from "chai";
import { prefixLines } from "../../../tools/testing/prefixLines.ts";

describe("tools/testing/prefixLines", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it("prints a line as a whole if it arrives in pieces, also if a character is divided", () => {
    const written: string[] = [];
    const lines = prefixLines("a  ", (text) => written.push(text));
    const [first, second] = [bytes("one\n✔ tw").slice(0, 5), bytes("one\n✔ tw").slice(5)];

    lines.write(first);
    lines.write(second);
    lines.write(bytes("o\n\nend"));
    lines.end();

    expect(written.join("")).to.equal("a  one\na  ✔ two\na  \na  end\n");
  });
});
