import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { schemaText } from "../../../indexer/api/graphql/schema.ts";
import { SDL_FILE } from "../../../tools/generate-sdl.ts";

describe("indexer/schema.graphql", () => {
  it("equals the schema of the code (if not: npm run generate:sdl)", async () => {
    expect(await readFile(SDL_FILE, "utf8")).to.equal(schemaText());
  });
});
