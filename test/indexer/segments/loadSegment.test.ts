import { expect } from "chai";
import { EMPTY_LEDGER, type LedgerHead } from "../../../indexer/src/segments/checkSegment.ts";
import { loadSegment } from "../../../indexer/src/segments/loadSegment.ts";
import type { SegmentSource } from "../../../indexer/src/segments/segmentSource.ts";
import { TestLedger } from "../support/testLedger.ts";

const ledger = new TestLedger();
for (let n = 0; n < 3; n++) ledger.append({ type: "settlement", n: BigInt(n) });

const { signal } = new AbortController();
const fromLedger: SegmentSource = async ({ from, to }) => ledger.lines(from, to);
const load = (
  [oldSize, newSize]: [bigint, bigint],
  { head = EMPTY_LEDGER, source = fromLedger }: { head?: LedgerHead; source?: SegmentSource } = {},
) => loadSegment({ oldSize, newSize, root: ledger.root() }, { head, source, signal });

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was loaded"),
    (error) => String(error.message),
  );

describe("loadSegment", () => {
  it("gives the entries of an anchor, and the size of the ledger after them", async () => {
    const { entries, head } = await load([0n, 3n]);
    expect(entries).to.deep.equal(ledger.entries);
    expect(head).to.include({ size: 3, root: ledger.root() });
  });

  it("refuses entries that contradict the root", async () => {
    const source = async () => ledger.lines(0, 2);
    expect(await messageOf(load([0n, 3n], { source }))).to.contain("the 2 entries have the root");
  });

  it("reports that earlier anchors are missing when the segment does not begin at the ledger's end", async () => {
    expect(await messageOf(load([1n, 3n]))).to.contain("START_BLOCK");
  });

  it("refuses an impossible number of entries", async () => {
    expect(await messageOf(load([0n, 2n ** 60n]))).to.contain("cannot exist");
  });

  it("reads nothing for a heartbeat, but checks the root", async () => {
    const { head } = await load([0n, 3n]);
    const source = () => expect.fail("the source was asked");
    expect((await load([3n, 3n], { head, source })).entries).to.deep.equal([]);
    const other = { ...head, frontier: head.frontier.toReversed() };
    expect(await messageOf(load([3n, 3n], { head: other, source }))).to.contain("have the root");
  });
});
