import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ForeignJsonError, readForeignJson, tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

const codeOf = (text: string, limits?: object): string => {
  try {
    readForeignJson(text, limits);
  } catch (error) {
    expect(error).to.be.instanceOf(ForeignJsonError);
    return (error as ForeignJsonError).code;
  }
  return "read";
};

describe("a stranger's JSON", () => {
  it("is read as JSON.parse reads it, also with quotes, brackets and backslashes in its strings", () => {
    const texts = fc.string({ unit: fc.constantFrom("[", "]", "{", "}", ",", '"', "\\", "a", "é") });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), texts, texts, (value, name, text) => {
        const whole = JSON.stringify({ value, [name]: text });
        expect(readForeignJson(whole)).to.deep.equal(JSON.parse(whole));
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it("is refused with a code when it is not JSON", () => {
    for (const text of ["", "{", "[1,]", '"', '"\\"', "]", "undefined", "{'a':1}", "[1]x"]) {
      expect(codeOf(text), text).to.equal("malformed_json");
      expect(tryForeignJson(text)).to.equal(undefined);
    }
  });

  it("is refused above the limits of length, depth and number of values, and read at the limits", () => {
    expect(codeOf("[1,2]", { maxLength: 5 })).to.equal("read");
    expect(codeOf("[1,2]", { maxLength: 4 })).to.equal("json_too_large");
    expect(codeOf('[{"a":[]}]', { maxDepth: 3 })).to.equal("read");
    expect(codeOf('[{"a":[]}]', { maxDepth: 2 })).to.equal("json_too_deep");
    // The count is five: the list, its three items, and one more, because an empty object counts as two.
    expect(codeOf('[1,"a,[,",{}]', { maxValues: 5 })).to.equal("read");
    expect(codeOf('[1,"a,[,",{}]', { maxValues: 4 })).to.equal("json_too_many_values");
  });

  it("has the depth of its deepest value, not the sum of all depths", () => {
    const flat = `[${Array.from({ length: 20 }, () => '[{"a":[]}]').join(",")}]`;
    expect(codeOf(flat, { maxDepth: 4 })).to.equal("read");
    expect(codeOf(flat, { maxDepth: 3 })).to.equal("json_too_deep");
    // Values after a string are counted for every way in which the string ends.
    for (const text of ['"\\\\"', '"\\""', '"\\\\\\""', '""', '"a\\\\\\\\"']) {
      expect(JSON.parse(text)).to.be.a("string");
      expect(codeOf(`[${text},[]]`, { maxDepth: 1 }), text).to.equal("json_too_deep");
      expect(codeOf(`[${text},1,2]`, { maxValues: 4 }), text).to.equal("read");
      expect(codeOf(`[${text},1,2]`, { maxValues: 3 }), text).to.equal("json_too_many_values");
    }
  });

  it("is refused with our own message, and the parser's error is the cause", () => {
    const said = (text: string, limits?: object): object => {
      try {
        readForeignJson(text, limits);
      } catch (error) {
        const { issues, cause } = error as ForeignJsonError;
        return { issues, cause: (cause as Error | undefined)?.name };
      }
      return {};
    };
    const because = (message: string, cause?: string) => ({ issues: [{ field: "", message }], cause });
    expect(said("{", {})).to.deep.equal(because("is no JSON", "SyntaxError"));
    expect(said("[]", { maxLength: 1 })).to.deep.equal(because("is longer than 1 characters"));
    expect(said("[[]]", { maxDepth: 1 })).to.deep.equal(because("is nested deeper than 1 levels"));
    expect(said("[1,2]", { maxValues: 2 })).to.deep.equal(because("has more than 2 values in it"));
    let own: unknown;
    try {
      readForeignJson("[]", { maxLength: 1 });
    } catch (error) {
      own = error;
    }
    expect(Object.hasOwn(own as object, "cause")).to.equal(false);
  });

  it("is refused at depths at which JSON.stringify throws, by default", () => {
    expect(codeOf("[".repeat(1_000_000))).to.equal("json_too_deep");
    expect(codeOf('{"a":'.repeat(100_000))).to.equal("json_too_deep");
    expect(codeOf(`${"[".repeat(128)}${"]".repeat(128)}`)).to.equal("read");
  });

  it("is read only by this function in the SDK: JSON.parse reads only our own text", () => {
    const own = new Set([
      // Copies of our own values, our own files, and the operator's setting.
      "packages/sdk/buyer/hireByKey.ts",
      "packages/mcp/escrowSetting.ts",
      "packages/sdk/seller/jobRunner.ts",
      "packages/sdk/store/fileStore.ts",
      "packages/sdk/store/keyValueStore.ts",
    ]);
    const found = ["packages/sdk", "packages/mcp"]
      .flatMap((room) =>
        readdirSync(path.join(repositoryRoot, room), { recursive: true }).map((name) => `${room}/${name}`),
      )
      .filter((name) => name.endsWith(".ts") && !name.startsWith("packages/sdk/examples/") && !own.has(name))
      .filter((name) => {
        const text = readFileSync(path.join(repositoryRoot, name), "utf8");
        return /JSON\.parse\(|(?:response|request|req|raw)\.json\(\)/.test(text);
      });
    expect(found).to.deep.equal([]);
  });
});
