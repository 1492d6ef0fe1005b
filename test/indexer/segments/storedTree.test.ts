import { expect } from "chai";
import { checkSegment, EMPTY_LEDGER } from "../../../indexer/src/segments/checkSegment.ts";
import { nodeKey, storedInclusionProof } from "../../../indexer/src/segments/storedTree.ts";
import { toHex } from "../../../protocol/hex.ts";
import { TestLedger } from "../support/testLedger.ts";

describe("storedInclusionProof", () => {
  it("proves every entry of every size from the nodes that loading a ledger in segments keeps", async () => {
    const ledger = new TestLedger();
    const rows = new Map<string, Awaited<ReturnType<typeof checkSegment>>["nodes"][number]>();
    let head = EMPTY_LEDGER;
    for (const size of [1, 2, 5, 15, 16, 17, 31, 48, 256, 257, 300]) {
      while (ledger.size < size)
        ledger.append({ type: "settlement", data_update: { n: BigInt(ledger.size) } });
      const checked = await checkSegment(head, ledger.lines(head.size), ledger.root());
      for (const node of checked.nodes) rows.set(nodeKey("l", node.height, node.index), node);
      head = checked.head;
      for (let index = 0; index < size; index++) {
        let asked = 0;
        const proof = await storedInclusionProof(index, size, async (places) => {
          asked = places.length;
          return places.flatMap(({ height, index }) => rows.get(nodeKey("l", height, index)) ?? []);
        });
        expect(proof.map(toHex), `${index} of ${size}`).to.deep.equal(
          ledger.tree.inclusionProof(index, size).map(toHex),
        );
        expect(asked).to.be.at.most(10 * Math.max(1, proof.length));
      }
    }
    expect(rows.size).to.equal(300 + 18 + 1);
  });

  it("fails where a node is missing instead of proving something else", async () => {
    const error = await storedInclusionProof(0, 2, async () => []).catch((it) => it);
    expect(String(error)).to.contain("not stored");
  });
});
