import { expect } from "chai";
import fc from "fast-check";
import {
  checkSegment,
  EMPTY_LEDGER,
  type LedgerHead,
  SegmentContradictionError,
} from "../../../indexer/src/segments/checkSegment.ts";
import { TestLedger } from "../support/testLedger.ts";

function ledgerOf(size: number): TestLedger {
  const ledger = new TestLedger();
  for (let n = 0; n < size; n++)
    ledger.append({ type: "settlement", data_update: { n: BigInt(n), text: "é\u007f" } });
  return ledger;
}

function contradiction(...parameters: Parameters<typeof checkSegment>): string {
  try {
    checkSegment(...parameters);
  } catch (error) {
    expect(error).to.be.instanceOf(SegmentContradictionError);
    return (error as Error).message;
  }
  return expect.fail("it was accepted");
}

describe("checkSegment", () => {
  it("accepts a ledger in segments of any sizes, each from the head of the segment before", () => {
    const ledger = ledgerOf(40);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 39 }), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (at) => {
        let head: LedgerHead = EMPTY_LEDGER;
        for (const size of [...at.sort((a, b) => a - b), 40]) {
          const lines = ledger.lines(head.size, size);
          const checked = checkSegment(head, lines, ledger.root(size));
          expect(checked.entries).to.have.length(lines.length);
          head = checked.head;
        }
        const bytes = ledger.lines().join("\n").length + 1;
        expect(head).to.include({
          size: 40,
          root: ledger.root(),
          head: ledger.entries[39]?.currentHash,
          bytes,
        });
      }),
      { numRuns: 25 },
    );
  });

  it("accepts a heartbeat: no entries and the same root", () => {
    const ledger = ledgerOf(3);
    const { head } = checkSegment(EMPTY_LEDGER, ledger.lines(), ledger.root());
    expect(checkSegment(head, [], ledger.root()).head).to.deep.equal(head);
    contradiction(head, [], ledger.root(2));
  });

  it("names the line of an entry that was changed", () => {
    const ledger = ledgerOf(5);
    const lines = ledger.lines();
    lines[3] = (lines[3] as string).replace('"n": 3', '"n": 4');
    expect(contradiction(EMPTY_LEDGER, lines, ledger.root())).to.contain("line 4");
  });

  it("counts lines from the beginning of the ledger, not of the segment", () => {
    const ledger = ledgerOf(5);
    const { head } = checkSegment(EMPTY_LEDGER, ledger.lines(0, 2), ledger.root(2));
    const lines = ledger.lines(2);
    lines[1] = "{}";
    expect(contradiction(head, lines, ledger.root())).to.contain("line 4");
  });

  it("refuses a segment that does not continue the ledger", () => {
    const ledger = ledgerOf(5);
    const other = new TestLedger();
    other.append({ type: "settlement" });
    const { head } = checkSegment(EMPTY_LEDGER, other.lines(), other.root());
    expect(contradiction(head, ledger.lines(1), ledger.root())).to.contain("parent_hash");
  });

  it("refuses a well-formed history that differs from the anchored one", () => {
    const [ledger, other] = [ledgerOf(4), ledgerOf(4)];
    other.append({ type: "settlement", data_update: {} });
    ledger.append({ type: "settlement", data_update: { n: 1n } });
    const message = contradiction(EMPTY_LEDGER, other.lines(), ledger.root());
    expect(message).to.contain(other.root()).and.contain(ledger.root());
  });

  it("refuses lines with the same content in another form", () => {
    const ledger = ledgerOf(2);
    const lines = ledger.lines();
    lines[1] = JSON.stringify(JSON.parse(lines[1] as string));
    expect(contradiction(EMPTY_LEDGER, lines, ledger.root())).to.contain("canonical");
  });
});
