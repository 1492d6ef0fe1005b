import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { abiPath, expectedAbiSource, GENERATED_ABIS } from "../../scripts/generate-abi.ts";
import { freshChain } from "./support/chain.ts";

describe("protocol/abi", () => {
  before(freshChain);

  for (const entry of GENERATED_ABIS) {
    it(`${entry.name} is what the contracts compile to (else: npm run generate:abi)`, async () => {
      expect(await readFile(abiPath(entry.name), "utf8")).to.equal(await expectedAbiSource(entry));
    });
  }
});
