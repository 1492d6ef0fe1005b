import { expect } from "chai";
import fc from "fast-check";
import type { EventLog } from "../eventLog.ts";
import { derivedState } from "./derivedState.ts";
import { clusterLog, generatedLog } from "./generatedLog.ts";
import { oracle } from "./oracle.ts";

/** How many generated logs; more with DERIVE_RUNS. */
const RUNS = Number(process.env.DERIVE_RUNS ?? 1_500);

async function expectAgreement(log: EventLog): Promise<void> {
  const { store, ...snapshot } = await log.derive();
  expect(derivedState(snapshot, store)).to.deep.equal(oracle(log.events));
}

describe("the derivation and the oracle", () => {
  it("agree on every field of every agent, and on every cluster, for any log", async () => {
    await fc.assert(fc.asyncProperty(generatedLog, expectAgreement), { numRuns: RUNS });
  }).timeout(0);

  it("agree when clusters meet and come apart all the time", async () => {
    await fc.assert(fc.asyncProperty(clusterLog, expectAgreement), { numRuns: Math.ceil(RUNS / 5) });
  }).timeout(0);
});
