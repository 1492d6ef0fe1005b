import { expect } from "chai";
import {
  breachReport,
  guaranteeReport,
  monitoringReport,
  slaReport,
} from "tallystick-derive/steward/sla/slaReport";
import type { Row } from "tallystick-derive/tables";
import { parseDecimal } from "tallystick-protocol/records/decimalSchema";
import { wallet } from "../eventLog.ts";

const reduction = { amount: "0.1", type: "trust_score_reduction" };

function guarantee(more: Partial<Row<"guarantee">> = {}): Row<"guarantee"> {
  return {
    ...{ id: "a/uptime/7/0", agent: "a", metric: "uptime", days: 7, penalty: JSON.stringify(reduction) },
    ...{ target: parseDecimal("0.99"), threshold: parseDecimal("0.95"), current: parseDecimal("0.995") },
    ...{ since: 5, fromDay: 1, boundUntil: null, openBreach: null, lastBreach: null, status: "compliant" },
    ...{ closes: "", closedDay: 0, daysUntilBreach: null },
    ...more,
  };
}

function breach(more: Partial<Row<"breach">> = {}): Row<"breach"> {
  return {
    ...{ id: "brch_1", agent: "a", guarantee: "a/uptime/7/0", metric: "uptime", days: 7 },
    ...{ target: parseDecimal("0.99"), threshold: parseDecimal("0.95"), value: parseDecimal("0.9") },
    ...{ penalty: JSON.stringify(reduction), fromDay: 1, toDay: 7, status: "confirmed" },
    ...{ detectedBlock: 9, detectedTime: 100, decidedBy: 200, dispute: "d", ruling: "r", excuse: "e" },
    ...{ confirmedTime: 300, closedTime: 400, goodDays: 12, checkedDay: 3, isReinstated: false },
    ...{ owed: 10n, paid: 4n, steps: 3 },
    ...more,
  };
}

const sla = {
  ...{ id: "a", record: "e1", version: "2.0", status: "at_risk", suspensions: "brch_1 50 900" },
} as Row<"sla">;
const score = { algorithmScore: 900_000_000, denied: 2, slaLeft: "9/10", score: 720_000_000 };

describe("the report of an SLA", () => {
  it("has each guarantee with its figures, and the distance to its target on the good side", () => {
    expect(
      guaranteeReport(guarantee({ lastBreach: 6, daysUntilBreach: 8, openBreach: "brch_1", boundUntil: 9 })),
    ).to.deep.equal({
      ...{ id: "a/uptime/7/0", metric: "uptime", measurement_window: "7 days", target: 0.99 },
      ...{ breach_threshold: 0.95, current: 0.995, status: "compliant", buffer: 0.005, last_breach: 6 },
      ...{ days_until_breach: 8, open_breach: "brch_1", penalty: reduction, since: 5, bound_until: 9 },
    });
    const late = { metric: "latency_p99", target: parseDecimal("5000") };
    const buffers: [Partial<Row<"guarantee">>, current: number | null, buffer: number | null][] = [
      [{ current: parseDecimal("0.98") }, 0.98, -0.01],
      [{ current: parseDecimal("0.99") }, 0.99, 0],
      [{ current: null }, null, null],
      [{ ...late, current: parseDecimal("4800") }, 4_800, 200],
      [{ ...late, current: parseDecimal("5000.5") }, 5_000.5, -0.5],
    ];
    for (const [more, current, buffer] of buffers) {
      const report = guaranteeReport(guarantee(more));
      expect([report.current, report.buffer]).to.deep.equal([current, buffer]);
    }
  });

  it("has each breach with the terms that were broken, its times, and the money that is owed", () => {
    expect(breachReport(breach())).to.deep.equal({
      ...{ id: "brch_1", guarantee: "a/uptime/7/0", metric: "uptime", measurement_window: "7 days" },
      ...{ target: 0.99, breach_threshold: 0.95, value: 0.9, status: "confirmed", detected_at: 100 },
      ...{ decided_by: 200, dispute: "d", ruling: "r", excuse: "e", confirmed_at: 300, closed_at: 400 },
      ...{ penalty: reduction, good_days: 12, owed_atomic: "10", paid_atomic: "4" },
    });
  });

  it("has the agent's own monitoring beside the measured figures", () => {
    const differences = [
      { metric: "uptime", measurement_window: "30 days", measured: "0.94", claimed: "1" },
      { metric: "latency_p50", measurement_window: "7 days", measured: null, claimed: "20" },
      { metric: "latency_p99", measurement_window: "7 days", measured: "70.5", claimed: null },
    ];
    const row = {
      ...{ id: "a/p", agent: "a", prober: wallet(30), endpoint: "https://a.example", askedAt: 7, time: 8 },
      ...{ differences: JSON.stringify({ differences }), record: "e2" },
    };
    expect(monitoringReport(row)).to.deep.equal({
      ...{ prober: wallet(30), endpoint: "https://a.example", asked_at: 7, record: "e2" },
      differences: [
        { metric: "uptime", measurement_window: "30 days", measured: 0.94, claimed: 1 },
        { metric: "latency_p50", measurement_window: "7 days", measured: null, claimed: 20 },
        { metric: "latency_p99", measurement_window: "7 days", measured: 70.5, claimed: null },
      ],
    });
  });

  it("has the penalties that still cost something, what they take from the score, and the tier of the promises", () => {
    const breaches = [
      breach(),
      breach({ id: "brch_2", goodDays: 29, confirmedTime: null }),
      breach({ id: "brch_3", goodDays: 30 }),
      breach({ id: "brch_4", status: "detected", goodDays: 0 }),
    ];
    const promised = guarantee({ target: parseDecimal("0.96") });
    const report = slaReport(sla, { guarantees: [promised], breaches, score, time: 899 });
    expect(report).to.deep.include({
      ...{ overall_status: "at_risk", version: "2.0", record: "e1", suspended_until: 900 },
      guarantees: [guaranteeReport(promised)],
      recent_breaches: breaches.map(breachReport),
      penalties_applied: [
        { breach: "brch_1", type: "trust_score_reduction", since: 300, recovery_days_left: 18 },
        { breach: "brch_2", type: "trust_score_reduction", since: 100, recovery_days_left: 1 },
      ],
      // Denied downtime costs .1 of .9. A tenth of the rest is lost.
      trust_score_impact: -0.08,
      sla_tier: "UNVERIFIED",
    });
    expect(report.tier_requirements.slice(0, 2)).to.deep.equal([
      { tier: "VERIFIED", metric: "uptime", bound: 0.9, promised: 0.96, is_met: true },
      { tier: "VERIFIED", metric: "success_rate", bound: 0.8, promised: null, is_met: false },
    ]);
  });

  it("says that the score is not changed before the first score, and while nothing is lost", () => {
    const impact = (more: Partial<typeof score> | null) =>
      slaReport(sla, {
        ...{ guarantees: [], breaches: [], time: 900 },
        score: more === null ? null : { ...score, ...more },
      }).trust_score_impact;
    for (const it of [impact(null), impact({ slaLeft: "1" }), impact({ algorithmScore: 0 })])
      expect(Object.is(it, 0)).to.equal(true);
    expect(impact({ slaLeft: "0" })).to.equal(-0.8);
  });
});
