import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { FORMS_FILE, formsText, QUERIES_FILE, queriesText } from "../../tools/generate-queries.ts";

/** The text without the characters that a formatter may change: white space, parentheses and separators. */
const essence = (text: string) => text.replaceAll(/[\s(),;|]/g, "");

describe("the SDK's GraphQL client, and the forms by which the command line checks its answers", () => {
  it("are up to date with the SDL and the operations (else: npm run generate:queries)", async () => {
    expect(essence(await readFile(QUERIES_FILE, "utf8"))).to.equal(essence(queriesText()));
    expect(essence(await readFile(FORMS_FILE, "utf8"))).to.equal(essence(formsText()));
  });
});
