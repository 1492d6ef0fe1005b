import { expect } from "chai";
import fc from "fast-check";
import { HOUR } from "../eventLog.ts";
import { AGENT, stewardLog } from "../steward/stewardScene.ts";
import { derivedSlas, derivedStewards } from "./derivedStewards.ts";
import { slaLog, slaSteps, slaTimes } from "./slaLog.ts";
import { oraclesOf } from "./steward.ts";

/** How many logs are generated. STEWARD_RUNS sets another number. */
const RUNS = Number(process.env.STEWARD_RUNS ?? 12);

describe("SLAs, derived and by the oracle", () => {
  it("agree on every guarantee, every breach and its end, and every penalty to the score, for any log", async () => {
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(slaSteps, slaTimes, async (steps, times) => {
        const log = await slaLog(steps, times);
        const { store } = await log.derive();
        const { scores, slas } = oraclesOf(log.events);
        expect(derivedSlas(store)).to.deep.equal(slas);
        expect(derivedStewards(store)).to.deep.equal(scores);
        for (const { step } of store.rows("breachStep").values()) note(step);
        for (const { metric, penalty, owed, goodDays } of store.rows("breach").values()) {
          note(metric);
          note(JSON.parse(penalty).type);
          if (owed > 0n) note("owed");
          if (goodDays > 0) note("recovering");
        }
        for (const it of store.rows("guarantee").values()) {
          note(it.status);
          if (it.boundUntil !== null) note("replaced");
          if (it.daysUntilBreach !== null) note("trend");
        }
      }),
      { numRuns: RUNS },
    );
    if (process.env.STEWARD_RUNS !== undefined) console.log(Object.fromEntries([...seen].sort()));
    // The logs must reach every case. A case that no log reaches is not compared.
    if (RUNS >= 1_000) expect([...seen.keys()]).to.include.members(EXPECTED);
  }).timeout(0);

  it("agree on the guarantees of an agent that has as many as may bind", async () => {
    const log = stewardLog();
    const promise = (...targets: string[]) =>
      log.after(1).record("sla", AGENT, {
        ...{ agent_id: AGENT, version: "1", issued_at: log.time },
        guarantees: targets.map((target, n) => ({
          ...{ metric: "success_rate", target, measurement_window: n === 0 ? "7 days" : "30 days" },
          ...{ breach_threshold: "0.9", penalty: { type: "trust_score_reduction", amount: "0.1" } },
        })),
      });
    // Each is weaker than the one before, so all stay valid. The next SLA continues the 63rd and adds the 64th.
    for (let n = 0; n < 63; n++) promise(`0.${980 - n}`);
    promise("0.918", "0.99");
    promise("0.917", "0.99");
    log.after(HOUR).tick();
    const slas = derivedSlas((await log.derive()).store);
    expect(slas[AGENT]?.guarantees).to.have.length(64);
    expect(slas).to.deep.equal(oraclesOf(log.events).slas);
  });
});

const EXPECTED = [
  ...["detected", "disputed", "upheld", "overturned", "confirmed", "closed", "reinstated"],
  ...["uptime", "success_rate", "latency_p50", "latency_p95", "latency_p99"],
  ...["trust_score_reduction", "temporary_suspension", "financial", "badge_revocation"],
  ...["owed", "recovering", "replaced", "trend", "at_risk"],
];
