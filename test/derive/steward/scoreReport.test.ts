import { expect } from "chai";
import { type ScoreSources, scoreReport } from "tallystick-derive/steward/scoreReport";
import { formatSlotDays } from "tallystick-derive/steward/slotDays";
import type { Row } from "tallystick-derive/tables";
import { DAY, HOUR, START, wallet } from "../eventLog.ts";
import {
  AGENT,
  ATTESTOR,
  attest,
  FIRST_HOUR,
  type Steward,
  stewardLog,
  stewardOf,
  testRun,
} from "./stewardScene.ts";

const today = START / DAY;
const slotDay = { data: 288, down: 12, raw: 24, denied: 1 };

/** The row of an agent with an attestation, whose other figures are set by hand. */
async function sources(more: Partial<Steward> = {}): Promise<ScoreSources> {
  const log = stewardLog();
  const hash = attest(log, { by: ATTESTOR, ci_url: "https://ci.example/1", coverage_tool: "c8" });
  log.after(HOUR).tick();
  const { store } = await log.derive();
  const row: Steward = {
    ...(await stewardOf(log)),
    ...{ computedBlock: 77, computedTime: START + 3 * HOUR - 1, mergedHour: FIRST_HOUR + 1 },
    ...{ algorithmScore: 900_000_000, score: 765_000_000, slaLeft: "9/10", denied: 1, tier: 1 },
    ...{ testCoverage: 960_000_000, uptime: 990_000_000, successRate: 980_000_000 },
    ...{ endorsements: 500_000_000, freshness: 250_000_000, succeeded: "201/2", failed: "3" },
    ...{ slotSums: "2016:10:20 8640:84:100 25920:259:400", endorsementCount: 11, uniqueEndorsers: 2 },
    ...{ endorserTrust: 375_000_000, decayedSuccess: 970_000_000, decayedUptime: null },
    difficultySuccess: 900_000_000,
    counted: `${wallet(100)} custom.a ${wallet(100)} 500000000\n${wallet(101)} * ${wallet(100)} 250000000`,
    leftOut: `${wallet(102)} * young\n${wallet(103)} custom.b mutual`,
    slots: formatSlotDays([today - 91, today - 90, today].map((day) => ({ day, ...slotDay }))),
    ...more,
  };
  const attestation = store.rows("attestation").get(hash) ?? null;
  const time = row.computedTime ?? 0;
  return {
    ...{ row, attestation, sla: null, oldestGuarantee: null, breaches: [] },
    ...{ claimStatus: "unclaimed", time },
  };
}

const sla = (more: Partial<Row<"sla">> = {}) =>
  ({
    ...{ lastConfirmed: null, suspensions: "" },
    ...more,
  }) as Row<"sla">;
const revocation = (...revoke: string[]) =>
  ({
    ...{ status: "confirmed", isReinstated: false, goodDays: 0 },
    penalty: JSON.stringify({ type: "badge_revocation", revoke }),
  }) as Row<"breach">;

describe("the report of a trust score", () => {
  it("has the score, its five factors with their evidence, and what the tiers require", async () => {
    const from = await sources();
    const { attestation } = from;
    const dayOf = (date: string) => ({ date, slots: 288, down: 12, found_down: 24, denied: 1 });
    const need = (tier: string, metric: string, above: number, is_met: boolean) => ({
      ...{ tier, metric, above, is_met },
    });
    expect(scoreReport(from)).to.deep.equal({
      algorithm_version: "1.0.0",
      computed_at: START + 3 * HOUR - 1,
      computed_block: 77,
      score: 0.765,
      tier: "VERIFIED",
      algorithm_score: 0.9,
      denied_slots: 1,
      denied_cost: 0.05,
      sla_factor: "9/10",
      factors: [
        {
          ...{ name: "test_coverage", value: 0.96, weight: 0.3, contribution: 0.288 },
          ...{ source: "attestation", last_verified: START },
          evidence: {
            ...{ attestation: attestation?.id, kind: "attested", signer: ATTESTOR, version: "1.0.0" },
            ...{ commit: "ab".repeat(20), passing_tests: 369, total_tests: 383, last_run: START },
            ...{ ci_url: "https://ci.example/1", coverage_tool: "c8" },
            runs: [testRun({ seed: "1" }), testRun({ seed: "2" })],
          },
        },
        {
          ...{ name: "uptime", value: 0.99, weight: 0.2, contribution: 0.198 },
          ...{ source: "uptime", last_verified: START + 2 * HOUR },
          evidence: {
            ...{ measurement_period_days: 30, total_hours: 720, downtime_hours: 7 },
            windows: [
              { days: 7, slots: 2016, down: 10, found_down: 20 },
              { days: 30, slots: 8640, down: 84, found_down: 100 },
              { days: 90, slots: 25_920, down: 259, found_down: 400 },
            ],
            // A day that is 91 days old is in no window any more.
            days: [dayOf("2025-10-03"), dayOf("2026-01-01")],
          },
        },
        {
          ...{ name: "success_rate", value: 0.98, weight: 0.25, contribution: 0.245 },
          ...{ source: "hires", last_verified: START + 3 * HOUR - 1 },
          evidence: {
            ...{ measurement_period_days: 30, successful: "201/2", failed: "3" },
            hires_from: START - 29 * DAY,
          },
        },
        {
          ...{ name: "endorsements", value: 0.5, weight: 0.15, contribution: 0.075 },
          ...{ source: "endorsement", last_verified: START + 3 * HOUR - 1 },
          evidence: {
            ...{ total_endorsements: 11, unique_endorsers: 2, endorser_trust_avg: 0.375 },
            counted: [
              { endorser: wallet(100), capability: "custom.a", party: wallet(100), trust: 0.5 },
              { endorser: wallet(101), capability: null, party: wallet(100), trust: 0.25 },
            ],
            left_out: [
              { endorser: wallet(102), capability: null, reason: "young" },
              { endorser: wallet(103), capability: "custom.b", reason: "mutual" },
            ],
          },
        },
        {
          ...{ name: "attestation_freshness", value: 0.25, weight: 0.1, contribution: 0.025 },
          ...{ source: "attestation", last_verified: START },
          evidence: {
            ...{ attestation: attestation?.id, last_attestation: START, hours_since: 2 },
            validity_period_hours: 24,
          },
        },
      ],
      requirements: [
        need("VERIFIED", "uptime_7d", 0.9, true),
        need("VERIFIED", "test_coverage", 0.5, true),
        need("VERIFIED", "endorsements", 3, true),
        need("TRUSTED", "uptime_30d", 0.95, true),
        need("TRUSTED", "test_coverage", 0.8, true),
        need("TRUSTED", "endorsements", 10, true),
        need("TRUSTED", "successful_delegations", 100, true),
        need("HIGHLY_TRUSTED", "uptime_90d", 0.99, true),
        need("HIGHLY_TRUSTED", "test_coverage", 0.9, true),
        need("HIGHLY_TRUSTED", "endorsements", 50, false),
        need("HIGHLY_TRUSTED", "successful_delegations", 1_000, false),
      ],
      badges: [],
      discovery_rank: 0,
      max_delegations_per_day: null,
      shown_with_warning: false,
      suspended_until: null,
      decayed: { success_rate: 0.97, uptime: null },
      difficulty_success: 0.9,
    });
  });

  it("is null before the first computation", async () => {
    const computed = await sources();
    expect(scoreReport(await sources({ computedTime: null, computedBlock: null }))).to.equal(null);
    expect(scoreReport(computed)).not.to.equal(null);
  });

  it("says that there is no attestation, no report of a prober and no rate yet", async () => {
    const from = await sources({ mergedHour: null, difficultySuccess: null, decayedSuccess: null });
    const report = scoreReport({ ...from, attestation: null });
    const factor = (name: string) => report?.factors.find((it) => it.name === name);
    expect(factor("test_coverage")).to.deep.include({
      last_verified: null,
      evidence: { attestation: null, passing_tests: 0, total_tests: 0, runs: [] },
    });
    expect(factor("attestation_freshness")).to.deep.include({
      last_verified: null,
      evidence: {
        ...{ attestation: null, last_attestation: null, hours_since: null, validity_period_hours: 24 },
      },
    });
    expect(factor("uptime")?.last_verified).to.equal(null);
    const untested = report?.requirements.filter(({ metric }) => metric === "test_coverage");
    expect(untested?.map(({ is_met }) => is_met)).to.deep.equal([false, false, false]);
    expect([report?.difficulty_success, report?.decayed.success_rate]).to.deep.equal([null, null]);
  });

  it("advises a limit and a warning only for the lowest tier", async () => {
    const advice = async (tier: number) => {
      const report = scoreReport(await sources({ tier }));
      const { discovery_rank, max_delegations_per_day, shown_with_warning } = report ?? {};
      return [report?.tier, discovery_rank, max_delegations_per_day, shown_with_warning];
    };
    expect([await advice(0), await advice(2), await advice(3)]).to.deep.equal([
      ["UNVERIFIED", -10, 10, true],
      ["TRUSTED", 10, null, false],
      ["HIGHLY_TRUSTED", 20, null, false],
    ]);
  });

  it("says until when the agent is suspended", async () => {
    const from = await sources();
    const { time } = from;
    const of = (suspensions: string) => scoreReport({ ...from, sla: sla({ suspensions }) })?.suspended_until;
    expect([of(`a 10 ${time + 1}`), of(`a 10 ${time}`)]).to.deep.equal([time + 1, null]);
  });

  it("has the badges that the agent earned, and that no breach took away", async () => {
    const from = await sources();
    const { time } = from;
    const month = { since: (today - 29) * DAY - 1 };
    const compliant = { sla: sla(), oldestGuarantee: month };
    const confirmed = sla({ lastConfirmed: time - 30 * DAY });
    const reduction = {
      ...revocation(),
      penalty: JSON.stringify({ type: "trust_score_reduction", amount: "0.1" }),
    };
    const rows: [badges: string[], more: Partial<ScoreSources>][] = [
      [[], { sla: null }],
      [["sla_compliant"], compliant],
      [[], { ...compliant, oldestGuarantee: null }],
      // The agent had guarantees before, and none for a time.
      [[], { ...compliant, oldestGuarantee: { since: month.since + 1 } }],
      [["sla_compliant"], { ...compliant, sla: confirmed }],
      [[], { ...compliant, sla: sla({ lastConfirmed: time - 30 * DAY + 1 }) }],
      // A breach that goes on is confirmed once, however long ago.
      [[], { ...compliant, sla: confirmed, breaches: [{ ...reduction, closedTime: null }] }],
      [
        ["sla_compliant"],
        { ...compliant, sla: confirmed, breaches: [{ ...reduction, closedTime: time - 1 }] },
      ],
      [["verified"], { claimStatus: "verified" }],
      [[], { claimStatus: "claimed" }],
      [["verified", "sla_compliant"], { ...compliant, claimStatus: "verified" }],
      [["sla_compliant"], { ...compliant, claimStatus: "verified", breaches: [revocation("verified")] }],
      [["verified"], { ...compliant, claimStatus: "verified", breaches: [revocation("sla_compliant")] }],
    ];
    for (const [badges, more] of rows)
      expect(scoreReport({ ...from, ...more })?.badges, JSON.stringify(more)).to.deep.equal(badges);
  });

  it("is about the agent's own statement if the agent signed the attestation itself", async () => {
    const log = stewardLog();
    const hash = attest(log);
    const { store } = await log.after(HOUR).tick().derive();
    const row = await stewardOf(log);
    const attestation = store.rows("attestation").get(hash) ?? null;
    const report = scoreReport({
      row,
      attestation,
      sla: null,
      oldestGuarantee: null,
      breaches: [],
      claimStatus: "",
      time: log.time,
    });
    const [first] = report?.factors ?? [];
    const own = { kind: "self", signer: AGENT, ci_url: null, coverage_tool: null };
    expect(first?.evidence).to.deep.include(own);
  });
});
