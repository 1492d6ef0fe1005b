import { expect } from "chai";
import fc from "fast-check";
import { derivedStewards } from "./derivedStewards.ts";
import { stewardOracle } from "./steward.ts";
import { stewardLog } from "./stewardLog.ts";

/** How many generated logs; more with STEWARD_RUNS. */
const RUNS = Number(process.env.STEWARD_RUNS ?? 25);

describe("trust scores, derived and by the oracle", () => {
  it("agree on every factor, score and tier, for any log", async () => {
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(stewardLog, async (log) => {
        const { store } = await log.derive();
        const rows = derivedStewards(store);
        expect(rows).to.deep.equal(stewardOracle(log.events));
        for (const it of Object.values(rows)) {
          for (const line of it.leftOut) note(line.split(" ")[2] ?? "");
          note(`endorsements: ${Math.min(it.counts[0] ?? 0, 4)}`);
          if (it.denied > 0) note("denied");
          if (/ \d+:[1-9]/.test(it.slotSums)) note("downtime");
        }
        for (const { reason } of store.rows("record").values())
          if (reason !== null) note(reason.replaceAll(/0x[0-9a-f]+/g, "…").replaceAll(/\d{5,}/g, "n"));
      }),
      { numRuns: RUNS },
    );
    if (process.env.STEWARD_RUNS !== undefined) console.log(Object.fromEntries([...seen].sort()));
    // What none of many logs reach was not compared.
    if (RUNS >= 1_000) expect([...seen.keys()]).to.include.members(EXPECTED);
  }).timeout(0);
});

const EXPECTED = ["mutual", "cluster", "young", "no_sale", "crowd", "denied", "downtime", "endorsements: 4"];
