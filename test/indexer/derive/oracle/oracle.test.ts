import { expect } from "chai";
import fc from "fast-check";
import { generatedLog } from "./generatedLog.ts";
import { oracle } from "./oracle.ts";

/** How many generated logs; more with DERIVE_RUNS. */
const RUNS = Number(process.env.DERIVE_RUNS ?? 1_500);

describe("the derivation and the oracle", () => {
  it("agree on every field of every agent, for any log", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const { agents, clusters } = await log.derive();
        const derived = Object.fromEntries(
          Object.entries(agents).map(([address, { cluster_id, ...fields }]) => {
            const cluster = cluster_id === null ? null : [...(clusters[cluster_id]?.members ?? [])].sort();
            return [address, { ...fields, cluster }];
          }),
        );
        expect(derived).to.deep.equal(Object.fromEntries(oracle(log.events)));
      }),
      { numRuns: RUNS },
    );
  }).timeout(0);
});
