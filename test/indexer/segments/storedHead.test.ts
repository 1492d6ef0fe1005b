import { expect } from "chai";
import { checkSegment, EMPTY_LEDGER, type LedgerHead } from "../../../indexer/src/segments/checkSegment.ts";
import { headOf, storedHead } from "../../../indexer/src/segments/storedHead.ts";
import { TestLedger } from "../support/testLedger.ts";

const ledger = new TestLedger();
for (let n = 0; n < 8; n++) ledger.append({ type: "settlement", n: BigInt(n) });

describe("the stored head of a ledger", () => {
  it("continues with the next segment at every size, also after an anchor without entries", () => {
    let head: LedgerHead = EMPTY_LEDGER;
    for (let size = 0; size <= ledger.size; size++) {
      const checked = checkSegment(head, ledger.lines(head.size, size), ledger.root(size));
      const stored = storedHead(checked.head);
      expect(headOf(stored)).to.deep.equal(checked.head);
      head = headOf(stored);
    }
    expect(head).to.include({ size: 8, root: ledger.root() });
  });
});
