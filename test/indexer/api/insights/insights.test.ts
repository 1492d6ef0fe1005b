import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Leaderboard } from "../../../../indexer/api/insights/leaderboard.ts";
import type { Percentiles } from "../../../../indexer/api/insights/percentiles.ts";
import type { Series } from "../../../../indexer/api/insights/series.ts";
import type { Trends } from "../../../../indexer/api/insights/trends.ts";
import { DAY, EventLog, START, wallet } from "../../../derive/eventLog.ts";
import { changesOf } from "../../support/changesOf.ts";
import { fillTallies } from "../../support/fillTallies.ts";
import { openRestApi, type RestApi } from "../../support/openRestApi.ts";

const [busy, calm, secret] = [wallet(1), wallet(2), wallet(3)];
const ring = [11, 12, 13, 14].map(wallet);
const TODAY = new Date((START + 20 * DAY) * 1000).toISOString().slice(0, 10);

function story(): EventLog {
  const log = new EventLog({ tier2MinSuccesses: 3, tier2MinCapabilities: 1 });
  log.after(1).listing(secret, "text.task", { private_metrics: true });
  for (const member of ring) log.after(1).transfer(wallet(99), member, 5_000_000);
  for (const member of ring) log.after(1).listing(member, "ring.task");
  for (let day = 0; day < 20; day++) {
    const capability = day < 10 ? "text.task" : "code.review";
    log.hire(busy, wallet(30 + day), { capability, passed: day !== 4, latency_ms: 100 * (day + 1) });
    if (day % 5 === 0) log.hire(calm, busy, { capability: "text.task", latency_ms: 50 });
    log.hire(secret, wallet(30), { capability: "text.task" });
    log.after(DAY);
  }
  // A ring that hires itself a lot weighs little.
  for (let n = 0; n < 12; n++)
    log.after(1).hire(ring[n % 4] ?? "0x", ring[(n + 1) % 4] ?? "0x", { capability: "text.task" });
  return log.after(60).tick();
}

describe("insights", () => {
  let api: RestApi;

  before(async () => {
    api = await openRestApi();
    const { events } = story();
    const store = new MemoryStore();
    for (const event of events) await changesOf(store, event);
    await api.database.fill(store);
    await fillTallies(api.database, events);
  });
  after(() => api?.close());

  const get = <Answer>(path: string) => api.get<Answer>(`/v1/insights/${path}`);

  it("give an agent's hires day by day, up to today", async () => {
    const series = await get<Series>(`agents/${busy}/series?days=10`);
    expect(series.to).to.equal(TODAY);
    expect(series.days).to.have.length(9);
    expect(series.days[0]).to.deep.equal({
      day: new Date((START + 11 * DAY) * 1000).toISOString().slice(0, 10),
      hires: 1,
      weighted_hires: 1,
      successes: 1,
      failures: 0,
      success_rate: 1,
      refunds: 0,
      disputes: 0,
      volume_usdc: "0.50",
      avg_latency_ms: 1200,
    });
    expect((await get<Series>(`agents/${busy}/series`)).days).to.have.length(20);
  });

  it("give a capability's volume and quality day by day", async () => {
    const { days } = await get<Series>("capabilities/text.task/series?days=366");
    expect(days[0]).to.include({ hires: 3, volume_usdc: "1.50" });
    expect(days[4]).to.include({ hires: 2, success_rate: 0.5 });
    expect(days.at(-1)).to.include({ day: TODAY, hires: 12, weighted_hires: 3 });
    expect((await get<Series>("capabilities/no.such/series")).days).to.deep.equal([]);
  });

  it("rank by weighted hires, so that a ring has a low rank, and leave out private agents", async () => {
    const { leaders, next_cursor } = await get<Leaderboard>("capabilities/text.task/leaderboard");
    expect(leaders.slice(0, 2).map((it) => it.agent_id)).to.deep.equal([busy, calm]);
    expect(leaders.map((it) => it.agent_id)).to.have.members([busy, calm, ...ring]);
    expect(leaders[0]).to.deep.include({ trust_tier: 2, success_rate: 0.95, cluster_id: null });
    expect(leaders[0]?.in_capability).to.include({ hires: 10, success_rate: 0.9, weighted_hires: 10 });
    expect(leaders[2]?.in_capability).to.include({ hires: 3, weighted_hires: 0.75 });
    expect(leaders[2]?.cluster_id).to.match(/^clst_/);
    expect(next_cursor).to.equal(null);
    const pages: string[] = [];
    let query = "limit=2";
    for (;;) {
      const page = await get<Leaderboard>(`capabilities/text.task/leaderboard?${query}`);
      pages.push(...page.leaders.map((it) => it.agent_id));
      if (page.next_cursor === null) break;
      query = `limit=2&cursor=${page.next_cursor}`;
    }
    expect(pages).to.deep.equal(leaders.map((it) => it.agent_id));
  });

  it("show the hires of this week and of the week before", async () => {
    const { capabilities } = await get<Trends>("capabilities");
    expect(capabilities.map((it) => it.capability)).to.deep.equal(["text.task", "code.review"]);
    expect(capabilities[1]?.window).to.include({ hires: 10, volume_usdc: "5.00" });
    expect(capabilities[1]?.last_7_days).to.include({ hires: 6 });
    expect(capabilities[1]?.previous_7_days).to.include({ hires: 4 });
    const first = await get<Trends>("capabilities?limit=1");
    const rest = await get<Trends>(`capabilities?limit=1&cursor=${first.next_cursor}`);
    expect([...first.capabilities, ...rest.capabilities]).to.deep.equal(capabilities);
  });

  it("give percentiles by the buyer's tier", async () => {
    const of = await get<Percentiles>(`agents/${busy}/percentiles`);
    expect(of).to.include({ sample: 20, complete: true });
    expect(of.by_buyer_trust_tier).to.deep.equal([
      {
        buyer_trust_tier: 0,
        hires: 20,
        success_rate: 0.95,
        latency_ms: { p50: 1000, p95: 1900, p99: 2000 },
        price_usdc: { p50: "0.50", p95: "0.50", p99: "0.50" },
      },
    ]);
    const all = await get<Percentiles>("capabilities/text.task/percentiles");
    expect(all.by_buyer_trust_tier.map((it) => [it.buyer_trust_tier, it.hires])).to.deep.equal([
      [0, 42],
      [2, 4],
    ]);
  });

  it("leave canaries out of the percentiles", async () => {
    const mark = (isCanary: boolean) =>
      api.database.pool.query(
        "UPDATE hire SET is_canary = $1 WHERE id IN (SELECT id FROM hire WHERE seller = $2 ORDER BY time DESC LIMIT 3)",
        [isCanary, busy],
      );
    await mark(true);
    try {
      for (const [path, sample] of [
        [`agents/${busy}/percentiles`, 17],
        ["capabilities/code.review/percentiles", 7],
      ] as const)
        expect((await get<Percentiles>(path)).sample, path).to.equal(sample);
    } finally {
      await mark(false);
    }
  });

  it("refuse an agent with private metrics, an unknown agent, and malformed requests", async () => {
    const refusalOf = async (path: string) => {
      const refused = await api.app.request(`/v1/insights/${path}`);
      return [refused.status, ((await refused.json()) as { code: string }).code];
    };
    for (const part of ["series", "percentiles"]) {
      expect(await refusalOf(`agents/${secret}/${part}`)).to.deep.equal([403, "private_metrics"]);
      expect(await refusalOf(`agents/${wallet(0xabc)}/${part}`)).to.deep.equal([404, "unknown_agent"]);
    }
    for (const bad of [`agents/${busy}/series?days=400`, "capabilities/Text/series"])
      expect(await refusalOf(bad), bad).to.deep.equal([400, "invalid_input"]);
  });
});
