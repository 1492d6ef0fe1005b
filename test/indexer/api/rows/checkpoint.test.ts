import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { finalityBlocks } from "../../../../indexer/api/rows/checkpoint.ts";
import { repositoryRoot } from "../../../../scripts/repositoryRoot.ts";

describe("the number of blocks after which a block is final", () => {
  it("is Ponder's own number on every chain", async () => {
    // Ponder exports this function to nobody.
    const file = path.join(repositoryRoot, "node_modules/ponder/dist/esm/utils/finality.js");
    const { getFinalityBlockCount } = (await import(pathToFileURL(file).href)) as {
      getFinalityBlockCount: (of: { chain: { id: number } }) => number;
    };
    const named = [1, 3, 4, 5, 42, 11_155_111, 137, 80_001, 42_161, 42_170, 421_611, 421_613];
    for (const id of [...named, 10, 8_453, 84_532, 31_337, 0])
      expect(finalityBlocks(id), `chain ${id}`).to.equal(getFinalityBlockCount({ chain: { id } }));
    const source = getFinalityBlockCount.toString().match(/case (\d+)/g) ?? [];
    expect(source.map((it) => Number(it.slice(5)))).to.have.members(named);
  });
});
