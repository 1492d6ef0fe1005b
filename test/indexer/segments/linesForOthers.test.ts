import { expect } from "chai";
import type { LogFields } from "../../../indexer/ponderProcess.ts";
import { LinesForOthers } from "../../../indexer/src/segments/linesForOthers.ts";

const [LEDGER, OTHER] = [`0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`];
const SEGMENT = { from: 7, lines: ["{}", "{}"] };

describe("the copy of a ledger for others", () => {
  const process = globalThis as { PONDER_COMMON?: unknown };
  const { signal } = new AbortController();
  let warned: LogFields[];
  let original: unknown;

  beforeEach(() => {
    warned = [];
    original = process.PONDER_COMMON;
    process.PONDER_COMMON = { logger: { warn: (fields: LogFields) => warned.push(fields) } };
  });
  afterEach(() => {
    process.PONDER_COMMON = original;
  });

  it("does not stop the derivation if its lines cannot be stored", async () => {
    const keep = () => Promise.reject(new Error("the disk is full"));
    await new LinesForOthers({ keep }, [1, 1]).keep(LEDGER, SEGMENT, signal);
    expect(warned.at(-1)).to.deep.equal({
      ...{ msg: "Lines of a ledger are not kept for others", ledger: LEDGER, from: 7, to: 9 },
      cause: "Error: the disk is full",
    });
  });

  it("is tried once after a failure of the same ledger, and as often as before for other ledgers and after a success", async () => {
    let attempts = 0;
    let isFull = true;
    const keep = async () => {
      attempts++;
      if (isFull) throw new Error("the disk is full");
      return true;
    };
    const copies = new LinesForOthers({ keep }, [1, 1]);
    const attemptsFor = async (ledger: string): Promise<number> => {
      attempts = 0;
      await copies.keep(ledger, SEGMENT, signal);
      return attempts;
    };
    expect(await attemptsFor(LEDGER)).to.equal(3);
    expect(await attemptsFor(LEDGER)).to.equal(1);
    expect(await attemptsFor(OTHER)).to.equal(3);
    isFull = false;
    expect(await attemptsFor(LEDGER)).to.equal(1);
    isFull = true;
    expect(await attemptsFor(LEDGER)).to.equal(3);
  });

  it("has no gap after a connection was lost", async () => {
    const answers = [() => Promise.reject(new Error("connection lost")), async () => true];
    const keep = () => (answers.shift() as () => Promise<boolean>)();
    await new LinesForOthers({ keep }, [1]).keep(LEDGER, SEGMENT, signal);
    expect(warned.map(({ msg }) => msg)).to.deep.equal([
      "Could not keep the lines of a ledger, trying again",
    ]);
  });

  it("warns if it has a gap", async () => {
    await new LinesForOthers({ keep: async () => false }).keep(LEDGER, SEGMENT, signal);
    expect(warned).to.deep.equal([
      { msg: "The lines of a ledger that are kept for others have a gap", ledger: LEDGER, from: 7 },
    ]);
  });

  it("ends with the process", async () => {
    const stop = new AbortController();
    const keep = () => {
      stop.abort(new Error("the process ends"));
      return Promise.reject(new Error("connection lost"));
    };
    const ended = await new LinesForOthers({ keep }, [1]).keep(LEDGER, SEGMENT, stop.signal).catch(String);
    expect(ended).to.equal("Error: the process ends");
  });
});
