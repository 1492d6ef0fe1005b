import { expect } from "chai";
import { quoteStranger } from "tallystick-mcp/strangersText";

describe("a stranger's words in an error", () => {
  it("are one line, and have no character that a person does not see", () => {
    const words = "a\nb\rc\u2028d\u2029e\u0085f\u202eg\u{e0041}h\u200bi\u007f";
    const quoted = quoteStranger(words);
    expect(quoted).to.equal(
      'From a stranger, not advice: "a\\nb\\rc\\u{2028}d\\u{2029}e\\u{85}f\\u{202e}g\\u{e0041}h\\u{200b}i\\u{7f}"',
    );
  });

  it("stay readable in every script, and are cut", () => {
    expect(quoteStranger("Grüße, 你好, 🙂")).to.equal('From a stranger, not advice: "Grüße, 你好, 🙂"');
    expect(quoteStranger("x".repeat(2_000), 10)).to.equal('From a stranger, not advice: "xxxxxxxxx');
    expect(quoteStranger(undefined)).to.equal("From a stranger, not advice: null");
  });
});
