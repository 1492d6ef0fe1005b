import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { QUERIES_FILE, queriesText } from "../../tools/generate-queries.ts";

/** The text without the characters that a formatter may change: white space, parentheses and separators. */
const essence = (text: string) => text.replaceAll(/[\s(),;|]/g, "");

describe("packages/sdk/query/createGraphqlClient.ts", () => {
  it("is up to date with the SDL and the operations (else: npm run generate:queries)", async () => {
    expect(essence(await readFile(QUERIES_FILE, "utf8"))).to.equal(essence(queriesText()));
  });
});
