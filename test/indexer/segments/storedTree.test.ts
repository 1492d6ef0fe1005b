import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { checkSegment, EMPTY_LEDGER } from "../../../indexer/src/segments/checkSegment.ts";
import { pageKey, storedInclusionProof } from "../../../indexer/src/segments/storedTree.ts";
import { TestLedger } from "../support/testLedger.ts";

describe("storedInclusionProof", () => {
  it("proves every entry at every size from the pages that are stored while segments are loaded", async () => {
    const ledger = new TestLedger();
    const rows = new Map<string, string>();
    let head = EMPTY_LEDGER;
    for (const size of [1, 2, 5, 15, 16, 17, 31, 48, 256, 257, 300]) {
      while (ledger.size < size)
        ledger.append({ type: "settlement", data_update: { n: BigInt(ledger.size) } });
      const checked = checkSegment(head, ledger.lines(head.size), ledger.root());
      for (const page of checked.pages) {
        const key = pageKey("l", page);
        const stored = rows.get(key);
        expect(stored !== undefined, key).to.equal(page.isStored);
        rows.set(key, `${stored ?? ""}${page.hashes}`);
      }
      head = checked.head;
      for (let index = 0; index < size; index++) {
        let asked = 0;
        const { leafHash, proof } = await storedInclusionProof(index, size, async (places) => {
          asked = places.length;
          return places.flatMap((place) => {
            const hashes = rows.get(pageKey("l", place));
            return hashes === undefined ? [] : [{ ...place, hashes }];
          });
        });
        expect(toHex(leafHash)).to.equal(toHex(ledger.tree.leaf(index)));
        expect(proof.map(toHex), `${index} of ${size}`).to.deep.equal(
          ledger.tree.inclusionProof(index, size).map(toHex),
        );
        // At most two pages are read for each level: the page of the node, and the last page.
        expect(asked).to.be.at.most(2 * Math.ceil(Math.log2(size + 1) / 4));
      }
    }
    expect(rows.size).to.equal(Math.ceil(300 / 16) + Math.ceil(18 / 16) + 1);
  });

  it("fails if a node of the tree is not stored", async () => {
    const page = { height: 0, index: 0, hashes: "00".repeat(32) };
    for (const pages of [[], [page]]) {
      const error = await storedInclusionProof(0, 2, async () => pages).catch((it) => it);
      expect(String(error)).to.contain("not stored");
    }
  });
});
