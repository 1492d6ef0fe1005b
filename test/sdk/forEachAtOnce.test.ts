import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";

describe("forEachAtOnce", () => {
  it("does the work of each item once, begins in order, and never works on more items than allowed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 3 }), { maxLength: 20 }),
        fc.integer({ min: -1, max: 5 }),
        async (turns, atOnce) => {
          const begun: number[] = [];
          let [running, most, ended] = [0, 0, 0];
          await forEachAtOnce(turns.entries(), { atOnce }, async ([n, wait]) => {
            begun.push(n);
            most = Math.max(most, ++running);
            for (let k = 0; k < wait; k++) await turn();
            running--;
            ended++;
          });
          expect(begun).to.deep.equal([...turns.keys()]);
          expect(ended).to.equal(turns.length);
          expect(most).to.be.at.most(Math.max(1, atOnce));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("throws the first error after the work that had begun, and begins no further item", async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const work = async (n: number): Promise<void> => {
      begun.push(n);
      await turn();
      if (n === 1) throw new Error(`no ${n}`);
      await turn();
      ended.push(n);
    };
    const failed = await forEachAtOnce([0, 1, 2, 3, 4], { atOnce: 3 }, work).catch((error) => error);
    expect(failed).to.have.property("message", "no 1");
    expect(begun).to.deep.equal([0, 1, 2]);
    expect(ended).to.deep.equal([0, 2]);
  });

  it("begins nothing after its signal, and does not throw", async () => {
    const stop = new AbortController();
    const begun: number[] = [];
    await forEachAtOnce([0, 1, 2, 3], { atOnce: 1, signal: stop.signal }, async (n) => {
      begun.push(n);
      if (n === 1) stop.abort();
    });
    expect(begun).to.deep.equal([0, 1]);
  });
});
