import { expect } from "chai";
import { EMPTY_LEDGER, type LedgerHead } from "../../../indexer/src/segments/checkSegment.ts";
import { type LoadedPart, loadSegment } from "../../../indexer/src/segments/loadSegment.ts";
import type { SegmentSource } from "../../../indexer/src/segments/segmentSource.ts";
import { TestLedger } from "../support/testLedger.ts";

function ledgerOf(size: number, fork = "a"): TestLedger {
  const ledger = new TestLedger();
  for (let n = 0; n < size; n++) ledger.append({ type: "settlement", n: BigInt(n), fork });
  return ledger;
}

const ledger = ledgerOf(7);
const { signal } = new AbortController();

/** A source whose parts have at most so many lines. */
const inPartsOf =
  (lines: number, of = ledger): SegmentSource =>
  async ({ from, to }) =>
    of.lines(from, Math.min(to, from + lines));

type Options = { head?: LedgerHead; source?: SegmentSource; attempts?: number };

/** Loads all parts. `failures` are the messages of the attempts that failed; with the last of `attempts` it rejects. */
async function load(
  [oldSize, newSize]: [bigint, bigint],
  { head = EMPTY_LEDGER, source = inPartsOf(7), attempts = 1 }: Options = {},
) {
  const failures: string[] = [];
  /** The number of entries before each further part. */
  const sizes: number[] = [];
  const retry = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (failures.push((error as Error).message) === attempts) throw error;
      }
    }
  };
  const goOn = async (size: number) => void sizes.push(size);
  const parts: LoadedPart[] = [];
  const anchor = { oldSize, newSize, root: ledger.root(Math.min(7, Number(newSize))) };
  for await (const part of loadSegment(anchor, { head, source, signal, retry, goOn })) parts.push(part);
  return { parts, failures, sizes };
}

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was loaded"),
    (error) => String(error.message),
  );

describe("loadSegment", () => {
  it("gives the entries of an anchor, and the size of the ledger after them", async () => {
    const { parts, sizes } = await load([0n, 7n]);
    expect(parts).to.have.length(1);
    expect(parts[0]?.entries).to.deep.equal(ledger.entries);
    expect(parts[0]?.head).to.include({ size: 7, root: ledger.root() });
    expect(sizes).to.deep.equal([]);
  });

  it("gives a long segment in parts, with the same result as in one", async () => {
    const [whole] = (await load([0n, 7n])).parts;
    const { parts, sizes } = await load([0n, 7n], { source: inPartsOf(3) });
    expect(parts.map(({ from, lines }) => [from, lines.length])).to.deep.equal([
      [0, 3],
      [3, 3],
      [6, 1],
    ]);
    expect(parts.flatMap(({ entries }) => entries)).to.deep.equal(ledger.entries);
    expect(parts.at(-1)?.head).to.deep.equal(whole?.head);
    expect(sizes, "between the parts of both readings").to.deep.equal([3, 6, 7, 3, 6]);
  });

  it("gives nothing of a long segment that contradicts the root at its end", async () => {
    const longer = ledgerOf(6);
    longer.append({ type: "settlement", n: 8n });
    const given: LoadedPart[] = [];
    const source = inPartsOf(3, longer);
    const anchor = { oldSize: 0n, newSize: 7n, root: ledger.root() };
    const retry = <Result>(attempt: () => Promise<Result>) => attempt();
    const goOn = async () => {};
    const loading = async () => {
      for await (const part of loadSegment(anchor, { head: EMPTY_LEDGER, source, signal, retry, goOn }))
        given.push(part);
    };
    expect(await messageOf(loading())).to.contain("the 7 entries have the root");
    expect(given).to.deep.equal([]);
  });

  it("reads a long segment from its beginning again when an early part was wrong", async () => {
    let asked = 0;
    const wrong = inPartsOf(3, ledgerOf(7, "b"));
    const source: SegmentSource = async (request) => (asked++ === 0 ? wrong : inPartsOf(3))(request);
    const { parts, failures } = await load([0n, 7n], { source, attempts: 2 });
    expect(failures).to.have.length(1);
    expect(failures[0]).to.contain("parent_hash");
    expect(parts.flatMap(({ entries }) => entries)).to.deep.equal(ledger.entries);
  });

  it("gives only what was checked, also if the source gives other entries when they are read again", async () => {
    let asked = 0;
    const [others, fewer] = [inPartsOf(3, ledgerOf(7, "b")), inPartsOf(2)];
    // Each part is read for the first time in the first three requests.
    const lies = new Map([
      [3, others],
      [5, fewer],
    ]);
    const source: SegmentSource = async (request) => (lies.get(asked++) ?? inPartsOf(3))(request);
    const { parts, failures } = await load([0n, 7n], { source, attempts: 3 });
    expect(failures.map((it) => it.replace(/root .*/, "root"))).to.deep.equal([
      "the 3 entries have the root",
      "the 5 entries have the root",
    ]);
    expect(parts.flatMap(({ entries }) => entries)).to.deep.equal(ledger.entries);
  });

  it("goes on at the part that was not available", async () => {
    const asked: number[] = [];
    const source: SegmentSource = async (request) => {
      asked.push(request.from);
      if (asked.length === 2) throw new Error("not now");
      return inPartsOf(3)(request);
    };
    const { failures } = await load([0n, 7n], { source, attempts: 2 });
    expect(failures).to.deep.equal(["not now"]);
    expect(asked).to.deep.equal([0, 3, 3, 6, 0, 3, 6]);
  });

  it("reports that earlier anchors are missing when the segment does not begin at the ledger's end", async () => {
    expect(await messageOf(load([1n, 7n]))).to.contain("START_BLOCK");
  });

  it("refuses an impossible number of entries", async () => {
    expect(await messageOf(load([0n, 2n ** 60n]))).to.contain("cannot exist");
  });

  it("reads nothing for a heartbeat, but checks the root", async () => {
    const head = (await load([0n, 7n])).parts[0]?.head as LedgerHead;
    const source = () => expect.fail("the source was asked");
    const { parts } = await load([7n, 7n], { head, source });
    expect(parts.map(({ entries }) => entries)).to.deep.equal([[]]);
    const other = { ...head, frontier: head.frontier.toReversed() };
    expect(await messageOf(load([7n, 7n], { head: other, source }))).to.contain("have the root");
  });
});
