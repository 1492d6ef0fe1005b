import { expect } from "chai";
import { EMPTY_LEDGER } from "../../../indexer/src/segments/checkSegment.ts";
import { type LoadSegmentParameters, loadSegment } from "../../../indexer/src/segments/loadSegment.ts";
import { SegmentUnavailableError } from "../../../indexer/src/segments/segmentSource.ts";
import type { LedgerEntry } from "../../../protocol/ledger/entry.ts";
import { TestLedger } from "../support/testLedger.ts";

const ledger = new TestLedger();
for (let n = 0; n < 3; n++) ledger.append({ type: "settlement", n: BigInt(n) });

/** A load whose surroundings the test decides; what happened is noted in `said`. */
function load(change: Partial<LoadSegmentParameters<LedgerEntry[]>> = {}) {
  const said: string[] = [];
  const block = { number: 9, hash: `0x${"00".repeat(32)}` } as const;
  const loading = loadSegment<LedgerEntry[]>({
    anchor: { ledger: `0x${"ab".repeat(32)}`, oldSize: 0n, newSize: 3n, root: ledger.root(), block },
    head: EMPTY_LEDGER,
    source: async ({ from, to }) => ledger.lines(from, to),
    read: async (entries) => entries,
    isCanonical: async () => true,
    keepAlive: async () => void said.push("alive"),
    onBlocked: async ({ attempts, reason }) => void said.push(`${attempts}: ${reason}`),
    onUnblocked: async () => void said.push("unblocked"),
    signal: new AbortController().signal,
    pause: { first: 1, most: 4 },
    ...change,
  });
  return { said, loading };
}

const anchorOf = (oldSize: bigint, newSize: bigint, root = ledger.root()) => ({
  ledger: `0x${"ab".repeat(32)}` as const,
  oldSize,
  newSize,
  root,
  block: { number: 9, hash: `0x${"00".repeat(32)}` as const },
});

/** A source that fails some times before it gives the segment. */
function failing(failures: number) {
  let asked = 0;
  return async ({ from, to }: { from: number; to: number }) => {
    if (++asked <= failures) throw new SegmentUnavailableError(`not yet ${asked}`);
    return ledger.lines(from, to);
  };
}

describe("loadSegment", () => {
  it("gives the entries at once when they are there, and reports nothing", async () => {
    const { loading, said } = load();
    const loaded = await loading;
    expect(loaded?.result).to.deep.equal(ledger.entries);
    expect(loaded?.head.size).to.equal(3);
    expect(said).to.deep.equal([]);
  });

  it("waits for a segment that is late, keeping the connection alive, and takes the report back", async () => {
    const { loading, said } = load({ source: failing(2) });
    expect((await loading)?.result).to.have.length(3);
    expect(said).to.deep.equal(["1: not yet 1", "alive", "2: not yet 2", "alive", "unblocked"]);
  });

  it("waits for entries that contradict the root until they are the anchored ones", async () => {
    let asked = 0;
    const source = async () => (++asked < 3 ? ledger.lines(0, 2) : ledger.lines());
    const { loading, said } = load({ source });
    expect((await loading)?.result).to.have.length(3);
    expect(said[0]).to.contain("the 2 entries have the root");
  });

  it("waits while what is made of the entries fails", async () => {
    let asked = 0;
    const read = async (entries: LedgerEntry[]) => {
      if (++asked === 1) throw new Error("the chain does not answer");
      return entries;
    };
    const { loading, said } = load({ read });
    expect((await loading)?.result).to.have.length(3);
    expect(said).to.deep.equal(["1: the chain does not answer", "alive", "unblocked"]);
  });

  it("gives up when another block has taken the anchor's place, seen twice in a row", async () => {
    let asked = 0;
    // Nodes on different forks behind one address: one no is no proof.
    const answers = [false, true, false, false];
    const { loading, said } = load({
      source: failing(Number.POSITIVE_INFINITY),
      isCanonical: async () => answers[asked++] ?? false,
    });
    expect(await loading).to.equal(null);
    expect(asked).to.equal(4);
    expect(said.at(-1)).to.equal("unblocked");
  });

  it("does not give up because the chain cannot be asked", async () => {
    const { loading } = load({
      source: failing(4),
      isCanonical: () => Promise.reject(new Error("connection refused")),
    });
    expect((await loading)?.result).to.have.length(3);
  });

  it("says that earlier anchors are missing when the segment does not begin where the ledger ends", async () => {
    const reasons: string[] = [];
    const stop = new AbortController();
    const waiting = load({
      anchor: anchorOf(1n, 3n),
      signal: stop.signal,
      onBlocked: async ({ reason }) => {
        reasons.push(reason);
        stop.abort(new Error("shutting down"));
      },
    });
    await waiting.loading.then(
      () => expect.fail("it was loaded"),
      (error) => expect(String(error)).to.contain("abort"),
    );
    expect(reasons[0]).to.contain("START_BLOCK");
  });

  it("waits for ever for more entries than can be", async () => {
    const stop = new AbortController();
    const { loading } = load({
      anchor: anchorOf(0n, 2n ** 60n),
      signal: stop.signal,
      onBlocked: async ({ reason }) => {
        expect(reason).to.contain("cannot exist");
        stop.abort();
      },
    });
    expect(await loading.catch((error) => error.name)).to.equal("AbortError");
  });

  it("ends with the caller's error when the connection is lost", async () => {
    const lost = new Error("connection terminated");
    const { loading } = load({ source: failing(5), keepAlive: () => Promise.reject(lost) });
    expect(await loading.catch((error) => error)).to.equal(lost);
  });

  it("reads nothing for a heartbeat, but checks the root", async () => {
    const first = await load().loading;
    if (first === null) throw new Error("not loaded");
    const source = () => expect.fail("the source was asked");
    const { loading } = load({ anchor: anchorOf(3n, 3n), head: first.head, source: async () => source() });
    expect((await loading)?.result).to.deep.equal([]);
  });
});
