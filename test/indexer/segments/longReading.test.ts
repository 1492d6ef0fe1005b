import { expect } from "chai";
import { LongReading } from "../../../indexer/src/segments/longReading.ts";
import type { Waiting } from "../../../indexer/src/segments/retryUntilAvailable.ts";

const BLOCK = 7;

/** A reading in conditions that the test sets. `said` lists the events, and `pass` lets seconds pass. */
function begin(change: Partial<Waiting> = {}) {
  const said: string[] = [];
  let time = 0;
  const reading = new LongReading(BLOCK, {
    isCanonical: async () => true,
    isBuried: async () => false,
    keepAlive: async () => void said.push("alive"),
    onBlocked: async ({ attempts, reason }) => void said.push(`${attempts}: ${reason}`),
    onUnblocked: async () => void said.push("unblocked"),
    signal: new AbortController().signal,
    now: () => time,
    ...change,
  });
  const pass = (seconds: number) => {
    time += 1_000 * seconds;
  };
  return { reading, said, pass };
}

describe("the reading of a long segment", () => {
  it("keeps the connection alive, and reports nothing in the first minute", async () => {
    const { reading, said, pass } = begin();
    await reading.goOn(3);
    pass(59);
    await reading.goOn(6);
    pass(60);
    await reading.end();
    expect(said).to.deep.equal(["alive", "alive"]);
  });

  it("reports after a minute how far it is, and withdraws the report once at its end", async () => {
    const { reading, said, pass } = begin();
    pass(60);
    await reading.goOn(3);
    await reading.goOn(6);
    await reading.end();
    await reading.end();
    expect(said).to.deep.equal([
      "alive",
      "1: it is still read and checked: the entries before 3 are there",
      "alive",
      "2: it is still read and checked: the entries before 6 are there",
      "unblocked",
    ]);
  });

  it("reports nothing while the checked entries are applied", async () => {
    const { reading, said, pass } = begin();
    await reading.end();
    pass(1_000);
    await reading.goOn(3);
    expect(said).to.deep.equal(["alive"]);
  });

  it("gives up when the chain has gone on from the block in the anchor's place, also while entries are applied", async () => {
    for (const isChecked of [false, true]) {
      const { reading } = begin({ isCanonical: async () => false, isBuried: async () => true });
      if (isChecked) await reading.end();
      const error = await reading.goOn(3).catch((it) => it);
      expect(error).to.include({ code: "block_orphaned" });
    }
  });

  it("does not give up while the chain's node follows another fork, or cannot be asked", async () => {
    const refused = () => Promise.reject(new Error("connection refused"));
    for (const change of [
      { isCanonical: async () => false },
      { isCanonical: async () => false, isBuried: refused },
      { isCanonical: refused, isBuried: async () => true },
      { isBuried: async () => true },
    ]) {
      const { reading, said } = begin(change);
      await reading.goOn(3);
      expect(said).to.deep.equal(["alive"]);
    }
  });
});
