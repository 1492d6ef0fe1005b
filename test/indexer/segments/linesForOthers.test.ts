import { expect } from "chai";
import type { LogFields } from "../../../indexer/ponderProcess.ts";
import { keepForOthers } from "../../../indexer/src/segments/keepForOthers.ts";

const LEDGER = `0x${"1".repeat(64)}`;
const SEGMENT = { from: 7, lines: ["{}", "{}"] };

describe("the copy of a ledger for others", () => {
  const process = globalThis as { PONDER_COMMON?: unknown };
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
    let attempts = 0;
    const keep = () => {
      attempts++;
      return Promise.reject(new Error("the disk is full"));
    };
    const { signal } = new AbortController();
    await keepForOthers({ keep }, LEDGER, SEGMENT, signal, [1, 1]);
    expect(attempts).to.equal(3);
    // After a failure the next copy is tried once, so that a lasting failure does not slow each anchor.
    await keepForOthers({ keep }, LEDGER, SEGMENT, signal);
    expect(attempts).to.equal(4);
    expect(warned.at(-1)).to.deep.equal({
      ...{ msg: "Lines of a ledger are not kept for others", ledger: LEDGER, from: 7, to: 9 },
      cause: "Error: the disk is full",
    });
  });

  it("has no gap after a connection was lost", async () => {
    const answers = [() => Promise.reject(new Error("connection lost")), async () => true];
    const keep = () => (answers.shift() as () => Promise<boolean>)();
    await keepForOthers({ keep }, LEDGER, SEGMENT, new AbortController().signal, [1]);
    expect(warned.map(({ msg }) => msg)).to.deep.equal([
      "Could not keep the lines of a ledger, trying again",
    ]);
  });

  it("warns if lines before these are gone", async () => {
    await keepForOthers({ keep: async () => false }, LEDGER, SEGMENT, new AbortController().signal);
    expect(warned).to.deep.equal([
      { msg: "Lines of a ledger that were kept are gone", ledger: LEDGER, before: 7 },
    ]);
  });

  it("ends with the process", async () => {
    const stop = new AbortController();
    const keep = () => {
      stop.abort(new Error("the process ends"));
      return Promise.reject(new Error("connection lost"));
    };
    const ended = await keepForOthers({ keep }, LEDGER, SEGMENT, stop.signal, [1]).catch(String);
    expect(ended).to.equal("Error: the process ends");
  });
});
