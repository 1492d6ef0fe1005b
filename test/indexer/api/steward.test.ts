import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import type { Hono } from "hono";
import type { Snapshot } from "tallystick-derive/snapshot";
import { nanoOf } from "tallystick-derive/steward/nano";
import type { FactorName } from "tallystick-derive/steward/score";
import { reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { verifyTrustReport } from "tallystick-protocol/trustReport/verifyTrustReport";
import { createApi } from "../../../indexer/api/app.ts";
import { recomputeFactor } from "../../../scripts/steward/recomputeFactor.ts";
import { shownReportForm } from "../../../scripts/steward/shownReportForm.ts";
import { shownSlaForm } from "../../../scripts/steward/shownSlaForm.ts";
import { slaStatusText } from "../../../scripts/steward/slaStatusText.ts";
import { trustReportText } from "../../../scripts/steward/trustReportText.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { wallet } from "../../derive/eventLog.ts";
import { AGENT, BUYER, PROBERS } from "../../derive/steward/stewardScene.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { node } from "../support/apiStory.ts";
import { measureQuery } from "../support/measureQuery.ts";
import { BARE, BROKEN, CAPABILITY, ENDORSERS, TESTED, trustStory } from "../support/stewardStory.ts";

const SECRET = new Uint8Array(32).fill(5);

/** If the matchers of contracts are loaded in the same run, Chai's `closeTo` accepts only whole numbers. */
function expectNear(actual: number, expected: number, within: number): void {
  expect(Math.abs(actual - expected) <= within, `${actual} is ${expected}, within ${within}`).to.equal(true);
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field.
type Json = any;

describe("trust scores and SLAs in the API", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;
  let derived: Snapshot & { store: Awaited<ReturnType<ReturnType<typeof trustStory>["derive"]>>["store"] };
  const api = (reportKey: Uint8Array | null) =>
    createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
      reportKey,
    });
  before(async () => {
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    derived = (await trustStory().derive()) as typeof derived;
    await database.fill(derived.store);
    app = api(SECRET);
  });
  after(() => database?.close());

  const get = async (path: string, from = app): Promise<Json> => {
    const response = await from.request(path);
    expect(response.status, await response.clone().text()).to.equal(200);
    return await response.json();
  };
  const refusal = async (path: string, from = app): Promise<Json> => {
    const response = await from.request(path);
    return { status: response.status, ...((await response.json()) as object) };
  };
  const ask = async (query: string): Promise<Json> => {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const body: Json = await response.json();
    expect(body.errors, JSON.stringify(body.errors)).to.equal(undefined);
    return body.data;
  };
  const search = async (filters: object): Promise<Json> => {
    const response = await app.request("/v1/search", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ capability: CAPABILITY, ...filters }),
    });
    expect(response.status, await response.clone().text()).to.equal(200);
    return await response.json();
  };
  const found = async (filters: object): Promise<string[]> =>
    (await search(filters)).agents.map((it: Json) => it.agent_id);

  describe("the commands for people", () => {
    it("print the answers of the API, and compute every factor again from them", async () => {
      const report = shownReportForm.parse(await get(`/v1/agents/${AGENT}/trust-report`));
      for (const name of Object.keys(report.trust_report.factors) as FactorName[])
        expect(recomputeFactor(report, name), name).to.include({ agrees: true });
      const text = stripVTControlCharacters(trustReportText(report));
      expect(text)
        .to.contain("Factor Breakdown:")
        .and.contain(report.trust_report.factors.uptime.score.toFixed(2));
      expect(text).to.not.match(/undefined|NaN|\[object/);
      const status = slaStatusText(shownSlaForm.parse(await get(`/v1/agents/${BROKEN}/sla`)));
      expect(stripVTControlCharacters(status)).to.contain("Overall Status: ❌ BREACHED");
      expect(status).to.not.match(/undefined|NaN|\[object/);
    });

    it("can read from the API what tiers require of SLAs, and the success by difficulty", async () => {
      const { sla_status } = await get(`/v1/agents/${BROKEN}/sla`);
      expect(sla_status.tier_requirements).to.have.length(7);
      const { trust_report } = await get(`/v1/agents/${BROKEN}/trust-report`);
      expect(trust_report.difficulty_success).to.be.within(0.5, 0.9);
      const { agent } = await ask(
        `{ agent(address: "${BROKEN}") { steward { difficultySuccess } sla { tierRequirements { tier metric bound promised isMet } } } }`,
      );
      expect(agent.steward.difficultySuccess).to.equal(trust_report.difficulty_success);
      expect(agent.sla.tierRequirements).to.deep.equal(
        sla_status.tier_requirements.map(({ is_met: isMet, ...it }: Json) => ({ ...it, isMet })),
      );
    });
  });

  describe("a trust report", () => {
    it("has every factor with its inputs, and is signed", async () => {
      const document = await get(`/v1/agents/${AGENT}/trust-report`);
      const { public_key } = reportKeyOf(SECRET);
      expect(verifyTrustReport(document, { publicKey: public_key })).to.deep.equal({
        ...{ isValid: true, agent: AGENT, publicKey: public_key },
        reportDate: document.trust_report.report_date,
      });
      const { factors, ...report } = document.trust_report;
      expect(report).to.include({ agent_id: AGENT, alias: "ada", version: "1.0.0", tier: "UNVERIFIED" });
      expect(report).to.include({ discovery_rank: -10, max_delegations_per_day: 10, sla_factor: "1" });
      expect(report.verification.verification_url).to.equal("http://localhost/v1/report-key");
      expect(factors.test_coverage.evidence).to.include({
        passing_tests: 369,
        total_tests: 383,
        kind: "self",
      });
      expect(factors.test_coverage.evidence.runs).to.have.length(2);
      expect(factors.uptime.evidence.windows[1]).to.deep.equal({
        ...{ days: 30, slots: 36, down: 15, found_down: 15 },
      });
      expect(factors.success_rate).to.include({ score: 0.888888889, source: "hires" });
      expect(factors.success_rate.evidence).to.include({ successful: "8", failed: "1" });
      const { counted, left_out } = factors.endorsements.evidence;
      expect(counted.map((it: Json) => it.endorser)).to.deep.equal(ENDORSERS.slice(1));
      expect(left_out).to.deep.equal([{ endorser: ENDORSERS[0], capability: null, reason: "no_sale" }]);
    });

    it("can be computed again from its own evidence", async () => {
      const { factors, algorithm_score, trust_score } = (await get(`/v1/agents/${AGENT}/trust-report`))
        .trust_report;
      const whole = (share: number) => BigInt(Math.round(share * 1e9));
      const parts = Object.values<Json>(factors).map(
        (it) => whole(it.score) * BigInt(Math.round(it.weight * 100)),
      );
      const sum = parts.reduce((total, part) => total + part, 0n);
      expect(nanoOf(sum, 100n * 10n ** 9n) / 1e9).to.equal(algorithm_score);
      expect(trust_score).to.equal(algorithm_score);
      const { evidence: tests } = factors.test_coverage;
      expectNear(factors.test_coverage.score, tests.passing_tests / tests.total_tests, 1e-9);
      const { days } = factors.uptime.evidence;
      const slots = days.reduce((total: number, it: Json) => total + it.slots, 0);
      const down = days.reduce((total: number, it: Json) => total + it.down, 0);
      expectNear(factors.uptime.score, (slots - down) / slots, 1e-9);
      const { counted, endorser_trust_avg } = factors.endorsements.evidence;
      const n = counted.length;
      const trust = counted.reduce((total: number, it: Json) => total + it.trust, 0) / n;
      expectNear(endorser_trust_avg, trust, 1e-9);
      const base = Math.min(0.9, Math.log10(n + 1) / Math.log10(50));
      expectNear(factors.endorsements.score, base * trust, 1e-8);
      const fresh = factors.attestation_freshness;
      expectNear(fresh.score, 1 - fresh.evidence.hours_since / 24, 1e-9);
    });

    it("reports what is missing: a key, an agent, a score", async () => {
      const keyless = await refusal(`/v1/agents/${AGENT}/trust-report`, api(null));
      expect(keyless).to.include({ status: 404, code: "no_report_key" });
      expect(keyless.hint).to.include("REPORT_KEY");
      expect(await refusal("/v1/report-key", api(null))).to.include({ code: "no_report_key" });
      expect(await refusal(`/v1/agents/${wallet(77)}/trust-report`)).to.include({ code: "unknown_agent" });
      expect(await refusal(`/v1/agents/${BARE}/trust-report`)).to.include({ code: "no_trust_score" });
      expect((await refusal("/v1/agents/0x1/trust-report")).status).to.equal(400);
    });

    it("is checked with the key of the agent card", async () => {
      const card = await get("/.well-known/agent-card.json");
      const key = reportKeyOf(SECRET);
      expect(card.capabilities.extensions[0].params).to.deep.equal(key);
      expect(await get("/v1/report-key")).to.deep.equal(key);
      const bare = await get("/.well-known/agent-card.json", api(null));
      expect(bare.capabilities).to.not.have.property("extensions");
    });
  });

  it("show what an agent promises and whether it kept its promises", async () => {
    const { sla_status: status, as_of } = await get(`/v1/agents/${BROKEN}/sla`);
    expect(status).to.include({ overall_status: "breached", version: "1", trust_score_impact: 0 });
    expect(status.suspended_until).to.be.greaterThan(as_of.time);
    const [latency, success] = status.guarantees;
    expect(latency).to.include({
      metric: "latency_p99",
      measurement_window: "7 days",
      current: null,
      buffer: null,
    });
    expect(success).to.include({
      metric: "success_rate",
      target: 0.98,
      status: "breached",
      breach_threshold: 0.9,
    });
    expect(success.current).to.equal(0.733333333);
    expect(success.buffer).to.equal(-0.246666667);
    expect(status.recent_breaches[0]).to.include({
      status: "confirmed",
      value: 0.733333333,
      closed_at: null,
    });
    expect(status.penalties_applied[0]).to.include({ type: "temporary_suspension", recovery_days_left: 30 });
    expect((await get(`/v1/agents/${AGENT}/sla`)).sla_status).to.equal(null);
    expect((await refusal(`/v1/agents/${wallet(77)}/sla`)).code).to.equal("unknown_agent");
  });

  it("show differences in an agent's own monitoring, and which prober reported them", async () => {
    const { sla_status: status } = await get(`/v1/agents/${BROKEN}/sla`);
    const [told] = status.own_monitoring;
    expect(told).to.deep.include({
      ...{ prober: PROBERS[0], endpoint: "https://h0.example/sla" },
      differences: [
        {
          ...{ metric: "success_rate", measurement_window: "30 days" },
          ...{ measured: 0.733333333, claimed: 0.99 },
        },
      ],
    });
    const { agent } = await ask(`{ agent(address: "${BROKEN}") { sla { ownMonitoring { nodes {
      prober endpoint askedAt recordHash differences { metric measurementWindow measured claimed }
    } } } } }`);
    const [{ differences, ...of }] = agent.sla.ownMonitoring.nodes;
    expect(of).to.deep.equal({
      ...{ prober: told.prober, endpoint: told.endpoint, askedAt: told.asked_at, recordHash: told.record },
    });
    expect(differences.map((it: Json) => it.claimed)).to.deep.equal([0.99]);
    const text = stripVTControlCharacters(
      slaStatusText(shownSlaForm.parse(await get(`/v1/agents/${BROKEN}/sla`))),
    );
    expect(text).to.contain("Success Rate (30 days): it says 99.00%, but 73.33% was measured");
  });

  it("show an agent's failures of the last days, with the reasons that the buyers gave", async () => {
    const { failures, next_cursor } = await get(`/v1/agents/${AGENT}/failures`);
    expect(failures.map((it: Json) => [it.buyer, it.reason, it.is_excused])).to.deep.equal([
      [BUYER, "timeout", false],
      [BUYER, "client_error", true],
    ]);
    expect(next_cursor).to.equal(null);
    const first = await get(`/v1/agents/${AGENT}/failures?limit=1&days=30`);
    const second = await get(`/v1/agents/${AGENT}/failures?limit=1&days=30&cursor=${first.next_cursor}`);
    expect([...first.failures, ...second.failures]).to.deep.equal(failures);
    expect((await get(`/v1/agents/${BROKEN}/failures?days=1`)).failures).to.deep.equal([]);
    expect((await get(`/v1/agents/${BROKEN}/failures?days=90`)).failures).to.have.length(8);
    for (const days of ["0", "91", "1.5", "-1", "x", "1e9"])
      expect((await refusal(`/v1/agents/${AGENT}/failures?days=${days}`)).status, days).to.equal(400);
  });

  it("are available in GraphQL, every factor with its evidence", async () => {
    const { agent } = await ask(`{ agent(address: "${AGENT}") { steward {
      score tier algorithmVersion algorithmScore computedAt deniedSlots slaFactor badges suspendedUntil alias
      factors { name value weight contribution source lastVerified evidence }
      requirements { tier metric above isMet } rankings { discoveryRank maxDelegationsPerDay shownWithWarning }
      attestations { nodes { kind commit testsPassing runs } } hires(first: 3) { totalCount nodes { outcome } }
    } } }`);
    const { trust_report: report } = await get(`/v1/agents/${AGENT}/trust-report`);
    const { steward } = agent;
    expect(steward).to.include({
      score: report.trust_score,
      tier: report.tier,
      alias: "ada",
      slaFactor: "1",
    });
    for (const { name, value, evidence, contribution } of steward.factors)
      expect({ value, evidence, contribution }).to.deep.equal({
        value: report.factors[name].score,
        evidence: report.factors[name].evidence,
        contribution: report.factors[name].contribution,
      });
    const sum = steward.factors.reduce((total: number, it: Json) => total + it.contribution, 0);
    expectNear(sum, steward.algorithmScore, 1e-9);
    expect(steward.requirements).to.have.length(11);
    expect(steward.requirements).to.deep.include({
      ...{ tier: "VERIFIED", metric: "test_coverage", above: 0.5, isMet: true },
    });
    expect(steward.requirements.find((it: Json) => it.metric === "uptime_7d")).to.include({ isMet: false });
    expect(steward.attestations.nodes[0]).to.include({ kind: "self", testsPassing: 369 });
    expect(steward.hires.totalCount).to.equal(10);
  });

  it("show breaches with their steps in GraphQL, also by their id", async () => {
    const { agent } = await ask(`{ agent(address: "${BROKEN}") { sla {
      overallStatus version suspendedUntil trustScoreImpact body
      guarantees { metric status buffer current openBreach { id } }
      breaches { nodes { id status value owedUsdc steps { step recordHash } claims { nodes { buyer } } } }
    } steward { tier suspendedUntil badges } } }`);
    const [breach] = agent.sla.breaches.nodes;
    expect(breach.steps.map((it: Json) => it.step)).to.deep.equal(["detected", "confirmed"]);
    expect(agent.sla).to.include({ overallStatus: "breached", trustScoreImpact: 0 });
    expect(agent.sla.suspendedUntil).to.equal(agent.steward.suspendedUntil);
    expect(agent.sla.guarantees.map((it: Json) => it.openBreach?.id ?? null)).to.have.members([
      breach.id,
      null,
    ]);
    const { breach: byId, node: asNode } = await ask(
      `{ breach(id: "${breach.id}") { agentAddress } node(id: "${breach.id}") { id __typename } }`,
    );
    expect(byId.agentAddress).to.equal(BROKEN);
    expect(asNode).to.deep.equal({ id: breach.id, __typename: "Breach" });
    const { agent: bare } = await ask(`{ agent(address: "${BARE}") { sla { version } steward { score } } }`);
    expect(bare).to.deep.equal({ sla: null, steward: null });
  });

  it("list agents by score, read from an index", async () => {
    const { trustScores } = await ask("{ trustScores(first: 2) { nodes { address score tier } } }");
    expect(trustScores.nodes.map((it: Json) => it.address)).to.deep.equal([AGENT, TESTED]);
    const { trustScores: high } = await ask("{ trustScores(minScore: 0.5) { nodes { address } } }");
    expect(high.nodes.map((it: Json) => it.address)).to.deep.equal([AGENT]);
    const { read, plans } = await measureQuery(
      app,
      database,
      "{ trustScores(first: 1) { nodes { address } } }",
    );
    expect(read, plans).to.be.at.most(10);
  });

  describe("in a search", () => {
    it("leave out suspended agents by default", async () => {
      expect(await found({})).to.have.members([AGENT, BARE, TESTED]);
      expect(await found({ include_suspended: false })).to.have.members([AGENT, BARE, TESTED]);
      const all = await search({ include_suspended: true });
      expect(all.agents.map((it: Json) => it.agent_id)).to.have.members([AGENT, BARE, TESTED, BROKEN]);
      const { steward } = all.agents.find((it: Json) => it.agent_id === BROKEN);
      const { sla_status } = await get(`/v1/agents/${BROKEN}/sla`);
      expect(steward.suspended_until).to.equal(sla_status.suspended_until);
      expect(all.agents.find((it: Json) => it.agent_id === BARE).steward).to.equal(null);
    });

    it("filter by score and tier, and order by score, page by page", async () => {
      const { agents } = await search({ order_by: "steward_score", include_suspended: true });
      const scores = agents.map((it: Json) => it.steward?.score ?? -1);
      expect(scores).to.deep.equal([...scores].sort((a, b) => b - a));
      expect(agents.map((it: Json) => it.agent_id)).to.deep.equal([AGENT, TESTED, BROKEN, BARE]);
      const paged: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Json = await search({
          order_by: "steward_score",
          include_suspended: true,
          limit: 1,
          cursor,
        });
        paged.push(...page.agents.map((it: Json) => it.agent_id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(paged).to.deep.equal([AGENT, TESTED, BROKEN, BARE]);
      expect(await found({ min_steward_score: 0 })).to.have.members([AGENT, TESTED]);
      expect(await found({ min_steward_score: scores[0] })).to.deep.equal([AGENT]);
      expect(await found({ min_steward_score: 1 })).to.deep.equal([]);
      expect(await found({ steward_tier: "UNVERIFIED" })).to.have.members([AGENT, TESTED]);
      expect(await found({ steward_tier: "VERIFIED" })).to.deep.equal([]);
    });

    it("refuse unknown filters", async () => {
      for (const wrong of [
        { steward_tier: "GOOD" },
        { min_steward_score: 1.1 },
        { include_suspended: "yes" },
        { order_by: "price" },
      ]) {
        const response = await app.request("/v1/search", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ capability: CAPABILITY, ...wrong }),
        });
        expect(response.status, JSON.stringify(wrong)).to.equal(400);
      }
    });

    it("filter the listings and agents of GraphQL in the same way", async () => {
      const sellers = async (where: string) =>
        (
          await ask(`{ listings(where: {capability: "${CAPABILITY}" ${where}}) { nodes { agentAddress } } }`)
        ).listings.nodes.map((it: Json) => it.agentAddress);
      expect(await sellers("")).to.have.members([AGENT, BARE, TESTED]);
      expect(await sellers("includeSuspended: true")).to.have.members([AGENT, BARE, TESTED, BROKEN]);
      expect(await sellers("stewardTier: UNVERIFIED")).to.have.members([AGENT, TESTED]);
      expect(await sellers("minStewardScore: 0.5")).to.deep.equal([AGENT]);
      const agents = async (where: string) =>
        (await ask(`{ agents(where: {${where}}, first: 100) { nodes { address } } }`)).agents.nodes.map(
          (it: Json) => it.address,
        );
      expect(await agents("minStewardScore: 0.5")).to.deep.equal([AGENT]);
      expect(await agents("stewardTier: UNVERIFIED")).to.include.members([AGENT, TESTED, BROKEN]);
      expect(await agents("includeSuspended: false"))
        .to.include(AGENT)
        .and.not.include(BROKEN);
      expect(await agents(`capability: "${CAPABILITY}", includeSuspended: false`)).to.have.members([
        AGENT,
        BARE,
        TESTED,
      ]);
    });
  });
});
