import { expect } from "chai";
import fc from "fast-check";
import { DAY, EventLog, wallet } from "../eventLog.ts";
import { derivedState } from "./derivedState.ts";
import { clusterLog, distantLogOf, generatedLog, listingLog, tierLog } from "./generatedLog.ts";
import { oracle } from "./oracle.ts";

/** How many logs are generated. DERIVE_RUNS sets another number. */
const RUNS = Number(process.env.DERIVE_RUNS ?? 500);

async function expectAgreement(log: EventLog): Promise<void> {
  const { store, ...snapshot } = await log.derive();
  expect(derivedState(snapshot, store)).to.deep.equal(oracle(log.events));
}

describe("the derivation and the oracle", () => {
  it("agree on every field of every agent, and on every cluster, for any log", async () => {
    await fc.assert(fc.asyncProperty(generatedLog, expectAgreement), { numRuns: RUNS });
  }).timeout(0);

  it("agree that payments to a hub fund nobody, however long they wait for a receipt", async () => {
    const [payer, other, hub, operator] = [wallet(6), wallet(2), wallet(3), wallet(9)];
    const log = new EventLog({ operator });
    log.listing(other, "text.summarize");
    log.listing(hub, "text.summarize");
    log.record("params", operator, { version: 2, operator, clusterOthers: 1, hubs: [hub] });
    log.transfer(payer, hub, 250_001, { authorized: true });
    log.transfer(payer, other, 100_000_000);
    log.after(DAY + 1).tick();
    expect((await log.derive()).clusters).to.deep.equal({});
    await expectAgreement(log);
  });

  it("agree that listings which appear again are compared by the similarity of that time", async () => {
    const [one, two, operator] = [wallet(1), wallet(2), wallet(9)];
    const loose = { numerator: 1, denominator: 2 };
    const strict = { numerator: 1, denominator: 1 };
    for (const [before, after, sizes] of [
      [strict, loose, [2]],
      [loose, strict, []],
    ] as const) {
      const log = new EventLog({ operator, clusterOthers: 2, fingerprintSimilarity: before });
      log.listing(one, "text.summarize");
      log.listing(two, "text.summarize");
      log.listing(two, "text.summarize", { retired: true });
      const params = { version: 2, operator, clusterOthers: 1, fingerprintSimilarity: after };
      log.record("params", operator, params);
      log.listing(two, "text.summarize", { first_call_free: true });
      const clusters = Object.values((await log.derive()).clusters);
      expect(clusters.map((it) => it.size)).to.deep.equal(sizes);
      await expectAgreement(log);
    }
  });

  it("agree when sets of listings appear and disappear all the time, under changing parameters", async () => {
    await fc.assert(fc.asyncProperty(listingLog, expectAgreement), { numRuns: Math.ceil(RUNS / 5) });
  }).timeout(0);

  it("agree when money comes through several wallets, goes to payees, or passes wallets with many transfers", async () => {
    const log = distantLogOf({ minLength: 5, maxLength: 50 }, 1);
    await fc.assert(fc.asyncProperty(log, expectAgreement), { numRuns: Math.ceil(RUNS / 10) });
  }).timeout(0);

  it("agree when the operator changes the conditions of Tier 2 all the time", async () => {
    await fc.assert(fc.asyncProperty(tierLog, expectAgreement), { numRuns: Math.ceil(RUNS / 5) });
  }).timeout(0);

  it("agree when clusters merge and split all the time", async () => {
    await fc.assert(fc.asyncProperty(clusterLog, expectAgreement), { numRuns: Math.ceil(RUNS / 5) });
  }).timeout(0);
});
