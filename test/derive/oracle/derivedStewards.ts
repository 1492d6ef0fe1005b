import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { ExpectedSla } from "./sla.ts";
import type { ExpectedSteward } from "./steward.ts";

/** The derived trust scores, in the oracle's form. */
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
        difficultySuccess: it.difficultySuccess,
        counts: [it.endorsementCount, it.uniqueEndorsers, it.endorserTrust],
        counted: it.counted === "" ? [] : it.counted.split("\n"),
        leftOut: it.leftOut === "" ? [] : it.leftOut.split("\n"),
        tests: [it.testsPassing, it.testsTotal],
      },
    ]),
  );
}

/** The derived SLAs, in the oracle's form. */
export function derivedSlas(store: MemoryStore): { [agent: string]: ExpectedSla } {
  const guarantees = [...store.rows("guarantee").values()];
  const breaches = [...store.rows("breach").values()];
  return Object.fromEntries(
    [...store.rows("sla").values()].map(({ id, status }) => [
      id,
      {
        status,
        guarantees: guarantees
          .filter(({ agent }) => agent === id)
          .map((it) => [
            it.id.slice(id.length + 1),
            it.fromDay,
            it.boundUntil,
            it.openBreach,
            it.lastBreach,
            it.current === null ? null : Number(it.current),
            it.status,
            it.daysUntilBreach,
          ]),
        breaches: breaches
          .filter(({ agent }) => agent === id)
          .map((it) => [
            it.id,
            it.status,
            Number(it.value),
            ...[it.fromDay, it.toDay, it.decidedBy],
            ...[it.confirmedTime, it.closedTime, it.goodDays, Number(it.owed)],
          ]),
      },
    ]),
  );
}
