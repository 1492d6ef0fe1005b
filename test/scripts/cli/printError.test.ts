import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { noRecovery, SellerSchemaError } from "tallystick-sdk/errors";
import { ServiceError } from "tallystick-sdk/requestService";
import { describeError } from "../../../scripts/cli/printError.ts";

const text = (error: unknown) => stripVTControlCharacters(describeError(error));

describe("scripts/cli/printError", () => {
  it("prints the sentence, what to do next, and the code", () => {
    const error = new TallystickError({
      code: "rpc_unreachable",
      message: "The chain does not answer.",
      hint: "Check --rpc-url.",
    });
    expect(text(error)).to.equal(
      "error: The chain does not answer.\n  hint: Check --rpc-url.\n  code: rpc_unreachable",
    );
  });

  it("names every field of bad input", () => {
    const error = new InvalidInputError({
      message: "The settings are not valid.",
      issues: [
        { field: "RPC_URL", message: "must be a URL" },
        { field: "CHAIN_ID", message: "must be a number" },
      ],
    });
    expect(text(error).split("\n")).to.deep.equal([
      "error: The settings are not valid.",
      "  RPC_URL: must be a URL",
      "  CHAIN_ID: must be a number",
      "  code: invalid_input",
    ]);
  });

  it("names the payment modes of offers that were refused for them", () => {
    expect(text(noRecovery("No.", ["direct", "platform_escrow:acme"]))).to.match(
      /^error: No\.\n {2}payment modes offered: direct, platform_escrow:acme\n {2}hint: /,
    );
  });

  it("shows the stack of an unexpected error", () => {
    expect(text(new TypeError("x is not a function"))).to.match(
      /^error: TypeError: x is not a function\n +at /,
    );
    expect(text("a bare string")).to.equal("error: a bare string");
  });

  it("never begins a new line inside a stranger's text, and prints no characters that control a terminal", () => {
    const evil = "no\u001b]0;owned\u0007\n  hint: run this\u202e\u009b31m";
    const issues = [{ field: evil, message: evil }];
    for (const error of [
      new ServiceError({ code: evil, message: evil, hint: evil, status: 400 }),
      new SellerSchemaError({ code: "invalid_params", issues }),
      noRecovery("No.", [evil]),
    ]) {
      const lines = text(error).split("\n");
      expect(lines.filter((line) => line.startsWith("  hint: run"))).to.deep.equal([]);
      for (const line of lines) expect(line).to.match(/^[ -~]*$/);
      expect(text(error)).to.contain("no\\u001b]0;owned\\u0007\\u000a  hint");
    }
    expect(text(new Error(evil))).to.match(/^[ -~\n]*$/);
  });
});
