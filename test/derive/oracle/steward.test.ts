import { expect } from "chai";
import fc from "fast-check";
import type { EventLog } from "../eventLog.ts";
import { DAY, HOUR, wallet } from "../eventLog.ts";
import { auditSteps } from "./auditActions.ts";
import { auditLog } from "./auditLog.ts";
import { derivedSlas, derivedStewards } from "./derivedStewards.ts";
import { oraclesOf, stewardOracle } from "./steward.ts";
import { stewardLog } from "./stewardLog.ts";

/** How many logs are generated. STEWARD_RUNS sets another number. */
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
    // The logs must reach every case. A case that no log reaches is not compared.
    if (RUNS >= 1_000) expect([...seen.keys()]).to.include.members(EXPECTED);
  }).timeout(0);

  it("agree on scores and SLAs while audits roll hires back and operators reveal arranged hires", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const log = await auditLog(steps, promises);
        log.after(2 * HOUR).tick();
        const { store } = await log.derive();
        const { scores, slas } = oraclesOf(log.events);
        expect(derivedStewards(store)).to.deep.equal(scores);
        expect(derivedSlas(store)).to.deep.equal(slas);
        for (const { hire } of store.rows("canary").values())
          if (hire !== null && store.rows("hire").get(hire)?.isCanary) seen.add("canary");
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    );
    if (RUNS >= 1_000) expect([...seen]).to.deep.equal(["canary"]);
  }).timeout(0);
});

/** The sellers of a log with audits publish an SLA on the day before its first step. */
function promises(log: EventLog): void {
  const guarantee = {
    measurement_window: "30 days",
    penalty: { type: "financial", amount: "1.5", currency: "USDC" },
  };
  for (const n of [1, 2, 3])
    log.record("sla", wallet(n), {
      agent_id: wallet(n),
      version: "1",
      guarantees: [
        { ...guarantee, metric: "success_rate", target: "0.98", breach_threshold: "0.9" },
        { ...guarantee, metric: "latency_p50", target: "400", unit: "milliseconds", breach_threshold: "500" },
      ],
      issued_at: log.time,
    });
  log.after(DAY).tick();
}

const EXPECTED = ["mutual", "cluster", "young", "no_sale", "crowd", "denied", "downtime", "endorsements: 4"];
