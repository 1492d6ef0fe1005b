import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { abiPath, expectedAbiSource, GENERATED_ABIS } from "../../scripts/generate-abi.ts";
import { BUILD_TIMEOUT, freshChain } from "./support/chain.ts";

describe("protocol/abi", () => {
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    await freshChain();
  });

  for (const entry of GENERATED_ABIS) {
    it(`${entry.name} is what the contracts compile to (else: npm run generate:abi)`, async () => {
      expect(await readFile(abiPath(entry.name), "utf8")).to.equal(await expectedAbiSource(entry));
    });
  }
});
