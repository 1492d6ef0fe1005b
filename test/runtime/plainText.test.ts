import { expect } from "chai";
import { plainJson, plainLines, plainText } from "tallystick-runtime/plainText";
import { stderrLog } from "tallystick-runtime/stderrLog";

const CONTROL = "\u001b]0;x\u0007\u009b2J\u007f\u202e\u2066\u2028\u061c";

describe("a stranger's text for a terminal", () => {
  it("has no character that controls the terminal or changes the direction of text, and all other characters", () => {
    expect(plainText(`a${CONTROL}\nb`)).to.match(/^[ -~]+$/);
    expect(plainLines(`a${CONTROL}\nb`).split("\n")).to.have.length(2);
    expect(plainText("Grüße, 你好 – 🙂 €")).to.equal("Grüße, 你好 – 🙂 €");
    const value = { text: `a${CONTROL}\nb` };
    for (const text of [plainJson(value, 2), plainJson(value)]) {
      expect(JSON.parse(text)).to.deep.equal(value);
      expect(text).to.match(/^[ -~\n]+$/);
    }
    expect(plainJson(value)).to.not.contain("\n");
  });

  it("stays on one line of a log", () => {
    const written: string[] = [];
    const { write } = process.stderr;
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write;
    try {
      stderrLog("A buyer could not be called back.", {
        url: `https://x.test/${CONTROL}`,
        error: `${CONTROL} no\nno`,
      });
    } finally {
      process.stderr.write = write;
    }
    expect(written.join("")).to.match(/^[ -~]+\n$/);
  });
});
