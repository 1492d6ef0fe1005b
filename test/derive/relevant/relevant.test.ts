import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import { auditSteps } from "../oracle/auditActions.ts";
import { auditLog } from "../oracle/auditLog.ts";
import { distantLogOf, generatedLog } from "../oracle/generatedLog.ts";
import { expectSame, relevant } from "./agreement.ts";

/** How many logs are generated, and from which seed. `npm run soak:relevant` derives more. */
const RUNS = Number(process.env.RELEVANT_RUNS ?? 40);
const SEED = { seed: Number(process.env.RELEVANT_SEED ?? 1) };

describe("a log of the transfers that matter", () => {
  it("gives the same digest as the whole log at every tick", async () => {
    const log = distantLogOf({ minLength: 5, maxLength: 50 }, 5);
    await fc.assert(fc.asyncProperty(log, expectSame), { numRuns: RUNS, ...SEED });
  }).timeout(0);

  it("gives the same digest for the logs of the oracle's tests", async () => {
    await fc.assert(fc.asyncProperty(generatedLog, expectSame), { numRuns: RUNS, ...SEED });
  }).timeout(0);

  it("gives the same digest for logs with audits", async () => {
    const same = fc.asyncProperty(auditSteps, async (steps) => expectSame(await auditLog(steps)));
    await fc.assert(same, { numRuns: Math.ceil(RUNS / 8), ...SEED });
  }).timeout(0);

  it("leaves out most of a log in which 99 of 100 transfers concern nobody", async () => {
    let [all, few] = [0, 0];
    const log = distantLogOf({ minLength: 20, maxLength: 40 }, 200);
    const isTransfer = ({ kind }: DeriveEvent) => ["transfer", "history", "count"].includes(kind);
    await fc.assert(
      fc.asyncProperty(log, async (it) => {
        const lines = await relevant(it);
        all += it.events.filter(isTransfer).length;
        few += lines.filter(isTransfer).length;
        await expectSame(it);
      }),
      { numRuns: Math.ceil(RUNS / 20), endOnFailure: true, ...SEED },
    );
    console.log(`      ${few} lines tell of ${all} transfers`);
    expect(few).to.be.lessThan(all / 10);
  }).timeout(0);
});
