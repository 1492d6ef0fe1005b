import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { ExpectedSteward } from "./steward.ts";

/** The rows that were computed, as the oracle tells them. */
export function derivedStewards(store: MemoryStore): { [agent: string]: ExpectedSteward } {
  const rows = [...store.rows("steward").values()].filter((it) => it.computedTime !== null);
  return Object.fromEntries(
    rows.map((it) => [
      it.id,
      {
        computedTime: it.computedTime ?? 0,
        score: it.score,
        tier: it.tier,
        ownTrust: it.ownTrust,
        factors: [it.testCoverage, it.uptime, it.successRate, it.endorsements, it.freshness],
        slotSums: it.slotSums,
        denied: it.denied,
        counts: [it.endorsementCount, it.uniqueEndorsers, it.endorserTrust],
        leftOut: it.leftOut === "" ? [] : it.leftOut.split("\n"),
        tests: [it.testsPassing, it.testsTotal],
      },
    ]),
  );
}
