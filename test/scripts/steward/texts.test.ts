import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { recomputeFactor } from "../../../scripts/steward/recomputeFactor.ts";
import type { ShownReport } from "../../../scripts/steward/shownReport.ts";
import { type ShownSla, slaStatusText } from "../../../scripts/steward/slaStatusText.ts";
import { trustReportText } from "../../../scripts/steward/trustReportText.ts";

const AGENT = `0x${"a1".repeat(20)}`;
const AT = Date.parse("2025-11-21T13:00:00Z") / 1_000;
const HASH = `0x${"22".repeat(32)}`;
const run = (seed: string, passing: number) => ({
  ...{ seed, passing, total: 383, flaky: 0, report_hash: HASH, outcomes_hash: HASH },
});

/** The example of the STEWARD paper, computed with its formulas. */
function report(): ShownReport {
  const last = "2025-11-21T11:00:00Z";
  const factor = (score: number, weight: number, source: string, evidence: object) => ({
    ...{ score, weight, contribution: score * weight, source, last_verified: last },
    evidence: evidence as { [name: string]: unknown },
  });
  return {
    trust_report: {
      ...{ agent_id: AGENT, alias: "vibe-agency-orchestrator", version: "4.0.0" },
      ...{ report_date: "2025-11-21T13:00:00Z", as_of: { block: 9, time: AT + 60 } },
      ...{ trust_score: 0.8459, tier: "TRUSTED", algorithm_score: 0.932018869 },
      ...{ denied_slots: 0, denied_cost: 0, sla_factor: "9/10" },
      factors: {
        test_coverage: factor(0.963446475, 0.3, "attestation", {
          ...{ passing_tests: 369, total_tests: 383, kind: "attested", ci_url: "https://ci.example/1" },
          runs: [run("1", 369), run("2", 370)],
        }),
        uptime: factor(0.99, 0.2, "uptime", {
          ...{ measurement_period_days: 30, total_hours: 720, downtime_hours: 7.2 },
          days: [
            { date: "2025-10-22", slots: 288, down: 288 },
            { date: "2025-10-23", slots: 100, down: 2 },
            { date: "2025-11-21", slots: 100, down: 0 },
          ],
        }),
        success_rate: factor(0.980753809, 0.25, "hires", {
          ...{ measurement_period_days: 30, successful: "1223", failed: "24" },
        }),
        endorsements: factor(0.150606247, 0.15, "endorsement", {
          ...{ total_endorsements: 1, unique_endorsers: 1, endorser_trust_avg: 0.85 },
          counted: [{ endorser: AGENT, party: AGENT, trust: 0.85 }],
          left_out: [{ endorser: AGENT, reason: "mutual" }],
        }),
        attestation_freshness: factor(0.916666667, 0.1, "attestation", {
          ...{ last_attestation: AT - 7_200, validity_period_hours: 24 },
        }),
      },
      requirements: [{ tier: "TRUSTED", metric: "endorsements", above: 10, is_met: false }],
      ...{ badges: ["verified"], suspended_until: null },
      verification: {
        signature: "",
        signed_by: "sha256:ab",
        public_key: "",
        verification_url: "https://n.example",
      },
    },
  };
}

describe("a trust report for people", () => {
  it("is laid out as the paper has it", () => {
    const text = stripVTControlCharacters(trustReportText(report()));
    for (const line of [
      "Trust Report: vibe-agency-orchestrator v4.0.0",
      "Generated: 2025-11-21T13:00:00Z",
      "Overall Trust Score: 0.85 ⭐ (Trusted)",
      "  ✅ Test Coverage: 0.96 (30% weight) → 0.2890",
      "     - 369/383 tests passing (96.3%)",
      "     - Last verified: 2h ago (2025-11-21T11:00:00Z)",
      "     - CI: https://ci.example/1",
      "     - Downtime: 7.2h of 720.0h with data",
      "     - Left out: 1",
      "     - Valid until: 2025-11-22T11:00:00Z",
      "Total: 0.9320",
      "  times 9/10 after breaches of its SLA",
      "Badges: verified",
    ])
      expect(text.split("\n"), line).to.include(line);
  });

  it("lets no text of an agent control the terminal", () => {
    const it = report();
    it.trust_report.version = "\u001b[2J\u202e";
    it.trust_report.factors.test_coverage.evidence.ci_url = "https://x/\u001b]0;owned\u0007";
    const clear = "\u001b[2J";
    // A node may be anybody's, so its own words must not control the terminal either.
    it.trust_report.tier = `TRUSTED${clear}`;
    it.trust_report.report_date += clear;
    it.trust_report.badges = [clear];
    it.trust_report.requirements[0] = { tier: clear, metric: clear, above: 1, is_met: false };
    it.trust_report.verification.verification_url += clear;
    for (const factor of Object.values(it.trust_report.factors)) factor.last_verified = "\u001b]0;";
    const text = trustReportText(it);
    for (const bad of ["\u001b[2J", "\u202e", "\u001b]0", "\u0007"]) expect(text).to.not.contain(bad);
  });
});

describe("a factor that is computed again from its evidence", () => {
  it("agrees with a correct report, and not with a report that claims more", () => {
    const it = report();
    for (const name of Object.keys(it.trust_report.factors) as (keyof typeof it.trust_report.factors)[]) {
      const { recomputed, told, agrees } = recomputeFactor(it, name);
      expect(agrees, `${name}: ${recomputed}, told ${told}`).to.equal(true);
      it.trust_report.factors[name].score += 0.000000001;
      expect(recomputeFactor(it, name).agrees, name).to.equal(false);
    }
  });

  it("is 0 without evidence, and with invalid evidence", () => {
    const it = report();
    for (const name of ["test_coverage", "uptime", "endorsements", "attestation_freshness"] as const) {
      it.trust_report.factors[name].evidence = { runs: "x", days: null, counted: {}, last_attestation: "y" };
      expect(recomputeFactor(it, name).recomputed, name).to.equal(0);
    }
  });
});

describe("an SLA's status for people", () => {
  const status = (change: object = {}): ShownSla => ({
    agent_id: AGENT,
    as_of: { block: 9, time: AT },
    sla_status: {
      ...{ overall_status: "at_risk", version: "1.0.0" },
      guarantees: [
        {
          ...{ metric: "uptime", measurement_window: "30 days", target: 0.99, breach_threshold: 0.95 },
          ...{
            current: 0.992,
            status: "compliant",
            buffer: 0.002,
            days_until_breach: null,
            bound_until: null,
          },
        },
        {
          ...{ metric: "latency_p99", measurement_window: "7 days", target: 5000, breach_threshold: 7500 },
          ...{ current: 4823, status: "compliant", buffer: 177, days_until_breach: null, bound_until: null },
        },
        {
          ...{ metric: "success_rate", measurement_window: "30 days", target: 0.98, breach_threshold: 0.9 },
          ...{ current: 0.97, status: "at_risk", buffer: -0.01, days_until_breach: 3, bound_until: null },
        },
      ],
      ...{
        recent_breaches: [],
        penalties_applied: [],
        trust_score_impact: 0,
        suspended_until: null,
        sla_tier: "TRUSTED",
      },
      ...change,
    },
  });

  it("is laid out as the paper has it", () => {
    const text = stripVTControlCharacters(slaStatusText(status()));
    for (const line of [
      "Overall Status: ⚠️  AT RISK",
      "  ✅ Uptime: 99.20% (target: 99.00%, buffer: +0.20%, 30 days)",
      "  ✅ Latency P99: 4823ms (target: 5000ms, buffer: +177ms, 7 days)",
      "  ⚠️  Success Rate: 97.00% (target: 98.00%, buffer: −1.00%, 30 days)",
      "     - Breach threshold: 90.00%",
      "     - Days until breach (if trend continues): 3",
      "  - No breaches",
      `     $ tallystick failures ${AGENT} --last-7-days`,
    ])
      expect(text.split("\n"), line).to.include(line);
    expect(slaStatusText({ ...status(), sla_status: null })).to.contain("promises nothing");
    const hostile = status({ overall_status: "\u001b[2J", suspended_until: AT });
    expect(slaStatusText({ ...hostile, agent_id: "\u001b[2J" })).to.not.contain("\u001b[2J");
  });

  it("shows breaches, penalties and a suspension", () => {
    const text = slaStatusText(
      status({
        suspended_until: AT + 86_400,
        recent_breaches: [
          {
            id: "brch_X",
            metric: "success_rate",
            status: "confirmed",
            detected_at: AT - 86_400,
            closed_at: null,
          },
        ],
        penalties_applied: [{ breach: "brch_X", type: "trust_score_reduction", recovery_days_left: 29 }],
        trust_score_impact: -0.0932,
      }),
    );
    expect(text).to.contain("Takes no new hires until 2025-11-22 13:00 UTC");
    expect(text).to.contain("Success Rate breached 2025-11-20 13:00 UTC: confirmed, open (brch_X)");
    expect(text).to.contain("trust_score_reduction, recovered in 29 good days");
    expect(text).to.contain("Trust score impact: -0.0932");
  });
});
