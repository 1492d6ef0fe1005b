import { expect } from "chai";
import { checkTicks } from "../../../scripts/audits/checkDraw.ts";
import { Findings } from "../../../scripts/audits/findings.ts";
import { tickHash } from "../../derive/auditScene.ts";

/** Compares the ticks of a log with a chain, of which the hash of a block is its number. A tick is due every ten blocks. */
async function wrong(
  ticks: number[],
  blocks: number[],
  { since = 12, lastBlock = Math.max(...ticks) } = {},
): Promise<string[]> {
  const found = new Findings();
  const log = {
    ...{ tickBlocks: 10, lastBlock },
    ticks: ticks.map((block) => ({ block, time: block, hash: tickHash(block) })),
  };
  await checkTicks(log, { blocks, since }, { blockHash: async (block) => tickHash(block) }, found);
  return found.all.filter(({ holds }) => !holds).map(({ what }) => what);
}

describe("the check of a log's ticks", () => {
  it("accepts the ticks at the blocks where they are due", async () => {
    expect(await wrong([10, 20, 30, 40], [20, 30, 40])).to.deep.equal([]);
    // The log begins after block 10.
    expect(await wrong([20, 30], [20, 30])).to.deep.equal([]);
  });

  it("finds a tick at another block, whose hash the node could choose", async () => {
    expect(await wrong([10, 17, 27], [17])).to.deep.equal([
      "The log has a tick at block 17, where none is due; one is due at every block that 10 divides.",
    ]);
    expect(await wrong([10, 17, 20], [17, 20])).to.have.length(1);
  });

  it("finds a tick that is left out, also at the beginning of the log", async () => {
    expect(await wrong([10, 30], [30])).to.deep.equal([
      "There is no tick between blocks 10 and 30 in the log; one is due at every block that 10 divides.",
    ]);
    expect(await wrong([30], [30])).to.have.length(1);
    expect(await wrong([17, 30], [30])).to.have.length(2);
    expect(await wrong([10, 25, 30], [30])).to.have.length(1);
  });

  it("finds ticks that are left out at the end of the log, so that a hire was never drawn", async () => {
    expect(await wrong([10, 20], [20], { lastBlock: 31 })).to.deep.equal([
      "There is no tick between blocks 20 and 31 in the log; one is due at every block that 10 divides.",
    ]);
    expect(await wrong([], [], { lastBlock: 21 })).to.have.length(1);
    // The tick of the last block comes after all other events of this block.
    expect(await wrong([10, 20], [20], { lastBlock: 30 })).to.deep.equal([]);
    expect(await wrong([], [], { lastBlock: 20 })).to.deep.equal([]);
  });

  it("says how many ticks were not compared", async () => {
    const found = new Findings();
    const blocks = Array.from({ length: 1_003 }, (_, n) => 20 + 10 * n);
    const log = {
      ...{ tickBlocks: 10, lastBlock: Math.max(...blocks) },
      ticks: blocks.map((block) => ({ block, time: block, hash: undefined })),
    };
    await checkTicks(log, { blocks, since: 12 }, { blockHash: async (block) => tickHash(block) }, found);
    expect(found.unchecked).to.deep.equal(["3 of 1003 ticks were not compared."]);
  });
});
