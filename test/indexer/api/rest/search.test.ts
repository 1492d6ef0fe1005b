import { expect } from "chai";
import type { Snapshot } from "tallystick-derive/snapshot";
import { parseListing } from "tallystick-protocol/records/listing";
import type { SearchResponse } from "../../../../indexer/api/rest/schemas.ts";
import { EventLog, NOBODY, wallet } from "../../../derive/eventLog.ts";
import { openRestApi, type RestApi } from "../../support/openRestApi.ts";

const CAPABILITY = "text.translate.en.it";
const OTHER = "code.review";

/**
 * The longest ids: a capability of 128 characters, and the address of an escrow with quotation marks, which JSON writes
 * as two characters each.
 */
const LONG = `a.${"b".repeat(126)}`;
const LONGEST_MODE = `custom_escrow:https://e.example/${'"'.repeat(2048 - 32)}`;

/** Sellers, named by their difference from the others. */
const seller = {
  tier2: wallet(1),
  good: wallet(2),
  fair: wallet(3),
  fresh: wallet(4),
  dear: wallet(5),
  retired: wallet(6),
  secret: wallet(7),
  claimed: wallet(8),
  ring: [11, 12, 13, 14].map(wallet),
};
const attestor = wallet(90);

/**
 * Sellers by the money that they kept: one dollar, two amounts that a float cannot tell apart, and one that is too
 * large for a bigint column.
 */
const RICH = "rich.task";
const rich: [`0x${string}`, bigint][] = [
  [wallet(0xa1), 1_000_000n],
  [wallet(0xa2), 2n ** 90n],
  [wallet(0xa3), 2n ** 62n],
  [wallet(0xa4), 2n ** 62n + 1n],
];

function market(): EventLog {
  const log = new EventLog({ claimAttestors: [attestor] });
  const list = (agent: `0x${string}`, more: object = {}) =>
    log.after(1).listing(agent, CAPABILITY, { ...more });
  list(seller.tier2, { price_usdc: "0.9", payment_mode: "platform_escrow:swarmwage-partnered" });
  list(seller.tier2, { price_usdc: "0.7" });
  list(seller.good, { price_usdc: "0.50", max_latency_ms: 8000, verification_version: "v2" });
  list(seller.fair, {
    price_usdc: "0.30",
    payment_mode: "platform_escrow:bridge",
    verification_version: "v1",
  });
  list(seller.fresh, { price_usdc: "0.05", clarification_supported: true, first_call_free: true });
  list(seller.dear, { price_usdc: "25", payment_mode: "custom_escrow:https://escrow.example/x" });
  list(seller.retired, { retired: true });
  list(seller.secret, { private_metrics: true, price_usdc: "0.6" });
  list(seller.claimed, { price_usdc: "0.04", verification_version: "beta" });
  log.after(1).listing(seller.good, OTHER);
  list(seller.good, { capability: LONG, price_usdc: "3" });
  list(seller.fair, { capability: LONG, price_usdc: "2" });
  list(seller.tier2, { capability: LONG, price_usdc: "1", payment_mode: LONGEST_MODE });
  for (const member of seller.ring) log.after(1).transfer(wallet(99), member, 5_000_000);
  for (const member of seller.ring) log.after(1).listing(member, "ring.task");

  let buyer = 20;
  const hires = (agent: `0x${string}`, count: number, failures: number, stars = 0, tasks = 4) => {
    for (let n = 0; n < count; n++) {
      const options = { passed: n >= failures, capability: `text.task${n % tasks}`, latency_ms: 100 + n };
      const receipt = log.after(1).hire(agent, wallet(buyer), options);
      if (stars > 0) log.record("rating", wallet(buyer), { receipt, side: "buyer", stars });
      buyer = 20 + ((buyer + 1) % 40);
    }
  };
  hires(seller.tier2, 20, 1, 5);
  hires(seller.good, 8, 0, 4);
  hires(seller.fair, 8, 2);
  hires(seller.secret, 37, 2, 4, 2);
  const handle = { x_handle: "someone", verification_hash: "ab".repeat(32), state: "verified" };
  log.after(1).record("claim", attestor, { agent_id: seller.claimed, ...handle });
  for (const [seller, atomic] of rich) {
    log.after(1).listing(seller, RICH);
    const payer = wallet(buyer++);
    log.after(1).transfer(NOBODY, payer, atomic);
    log.after(1).hire(seller, payer, { amount: atomic });
  }
  return log.after(60).tick();
}

describe("POST /v1/search", () => {
  let api: RestApi;
  let derived: Snapshot;

  before(async () => {
    api = await openRestApi();
    derived = await api.fill(market());
  });
  after(() => api?.close());

  const post = (body: unknown) => api.post("/v1/search", body);

  async function search(filters: object = {}): Promise<SearchResponse> {
    const response = await post({ capability: CAPABILITY, limit: 100, ...filters });
    expect(response.status, await response.clone().text()).to.equal(200);
    return (await response.json()) as SearchResponse;
  }

  const found = async (filters: object) => (await search(filters)).agents.map((it) => it.agent_id);

  it("gives live listings of the capability in the published order", async () => {
    const { agents, next_cursor } = await search();
    expect(agents.map((it) => [it.agent_id, it.listing.price_usdc])).to.deep.equal([
      [seller.tier2, "0.7"],
      [seller.tier2, "0.9"],
      [seller.claimed, "0.04"],
      [seller.good, "0.50"],
      [seller.secret, "0.6"],
      [seller.fair, "0.30"],
      [seller.fresh, "0.05"],
      [seller.dear, "25"],
    ]);
    expect(next_cursor).to.equal(null);
    expect(await found({ capability: "no.such" })).to.deep.equal([]);
  });

  it("shows the listing and the reputation of the derivation", async () => {
    const { agents } = await search({ payment_mode: "direct" });
    const fields = derived.agents[seller.tier2];
    expect(agents[0]).to.deep.include({ agent_id: seller.tier2, cluster_id: null, cluster_size: 1 });
    expect(agents[0]?.listing).to.deep.include({
      capability: CAPABILITY,
      price_usdc: "0.7",
      max_latency_ms: 1000,
      payment_mode: "direct",
      first_call_free: false,
      endpoint: `https://${seller.tier2}.example`,
    });
    expect(agents[0]?.listing).to.not.have.any.keys("payee", "verification_version");
    for (const { agent_id, listing } of agents) parseListing({ agent_id, ...listing });
    for (const result of agents) {
      const { reputation, agent_id } = result;
      expect(derived.agents[agent_id], agent_id).to.deep.include(reputation);
    }
    expect(fields).to.include({ trust_tier: 2, success_rate: 0.95 });
    expect((await search({ capability: "ring.task" })).agents[0]).to.deep.include({
      cluster_id: derived.agents[seller.ring[0] ?? ""]?.cluster_id,
      cluster_size: 4,
    });
  });

  it("shows whether a human claims the agent", async () => {
    const { agents } = await search({ max_price_usdc: "0.05" });
    expect(agents.map((it) => [it.agent_id, it.reputation.claimed])).to.deep.equal([
      [seller.claimed, true],
      [seller.fresh, false],
    ]);
  });

  it("filters by price, inclusive, at any size", async () => {
    expect(await found({ max_price_usdc: "0.05" })).to.deep.equal([seller.claimed, seller.fresh]);
    expect(await found({ max_price_usdc: "0.049999" })).to.deep.equal([seller.claimed]);
    expect(await found({ max_price_usdc: `1${"0".repeat(70)}` })).to.have.length(8);
  });

  it("filters by latency, inclusive", async () => {
    expect(await found({ max_latency_ms: 1000 })).to.not.include(seller.good);
    expect(await found({ max_latency_ms: 8000 })).to.include(seller.good);
  });

  it("filters by the published success rate; a rate of null passes no minimum", async () => {
    expect(await found({ min_success_rate: 0.95 })).to.deep.equal([seller.tier2, seller.tier2, seller.good]);
    expect(await found({ min_success_rate: 0.950000001 })).to.deep.equal([seller.good]);
    expect(await found({ min_success_rate: 0 })).to.not.include(seller.fresh);
    // 35 of 37 is published as 0.9 by an agent with private metrics.
    expect(await found({ min_success_rate: 0.9 })).to.include(seller.secret);
    expect(await found({ min_success_rate: 0.91 })).to.not.include(seller.secret);
  });

  it("filters by stars; an average of null passes no minimum", async () => {
    expect(await found({ min_avg_stars: 4 })).to.deep.equal([
      seller.tier2,
      seller.tier2,
      seller.good,
      seller.secret,
    ]);
    expect(await found({ min_avg_stars: 4.5 })).to.deep.equal([seller.tier2, seller.tier2]);
    expect(await found({ min_avg_stars: 0 })).to.not.include(seller.fair);
  });

  it("filters by the published evidence figures; a coverage of null passes no minimum", async () => {
    const { agents } = await search();
    const told = (holds: (it: (typeof agents)[number]["reputation"]) => boolean) =>
      agents.filter(({ reputation }) => holds(reputation)).map((it) => it.agent_id);
    for (const { reputation } of agents) {
      const { independent_buyers: families, kept_usdc: kept, receipt_coverage: coverage } = reputation;
      expect(await found({ min_independent_buyers: families })).to.deep.equal(
        told((it) => it.independent_buyers >= families),
      );
      expect(await found({ min_kept_usdc: kept })).to.deep.equal(
        told((it) => Number(it.kept_usdc) >= Number(kept)),
      );
      expect(await found({ min_receipt_coverage: coverage ?? 0 })).to.deep.equal(
        told((it) => it.receipt_coverage !== null && it.receipt_coverage >= (coverage ?? 0)),
      );
    }
    expect(told((it) => it.receipt_coverage === null)).to.not.deep.equal([]);
    expect(told((it) => it.independent_buyers > 0)).to.not.deep.equal([]);
  });

  it("filters by trust tier", async () => {
    expect(await found({ min_trust_tier: 1 })).to.deep.equal([seller.tier2, seller.tier2, seller.claimed]);
    expect(await found({ min_trust_tier: 2 })).to.deep.equal([seller.tier2, seller.tier2]);
    expect(await found({ min_trust_tier: 0 })).to.have.length(8);
  });

  it("filters by payment mode, exactly or any platform escrow", async () => {
    expect(await found({ payment_mode: "platform_escrow:bridge" })).to.deep.equal([seller.fair]);
    expect(await found({ payment_mode: "platform_escrow:*" })).to.deep.equal([seller.tier2, seller.fair]);
    expect(await found({ payment_mode: "custom_escrow:https://escrow.example/x" })).to.deep.equal([
      seller.dear,
    ]);
    expect(await found({ payment_mode: "platform_escrow:brid" })).to.deep.equal([]);
  });

  it("filters by verification version; a missing one counts as v0, an invalid one passes nothing", async () => {
    expect(await found({ min_verification_version: "v1" })).to.deep.equal([seller.good, seller.fair]);
    expect(await found({ min_verification_version: "v2" })).to.deep.equal([seller.good]);
    const all = await found({ min_verification_version: "v0" });
    expect(all).to.include(seller.fresh).and.to.not.include(seller.claimed);
  });

  it("filters by clarification support", async () => {
    expect(await found({ clarification_supported: true })).to.deep.equal([seller.fresh]);
    expect(await found({ clarification_supported: false })).to.have.length(7);
  });

  it("treats filters that are null as absent, and combines the others", async () => {
    const none = { max_price_usdc: null, min_success_rate: null, payment_mode: null, min_trust_tier: null };
    expect(await found(none)).to.have.length(8);
    const all = { min_success_rate: 0.9, max_price_usdc: "0.8", payment_mode: "direct" };
    expect(await found(all)).to.deep.equal([seller.tier2, seller.good, seller.secret]);
  });

  it("gives each result of any search once over its pages, in one order", async () => {
    for (const filters of [{}, { min_success_rate: 0.5 }, { payment_mode: "platform_escrow:*" }]) {
      const whole = await search(filters);
      for (const limit of [1, 2, 3, 7]) {
        const pages: SearchResponse["agents"] = [];
        let cursor: string | null = null;
        do {
          const page: SearchResponse = await search({ ...filters, limit, cursor });
          expect(page.agents.length).to.be.at.most(limit);
          pages.push(...page.agents);
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(pages).to.deep.equal(whole.agents);
      }
    }
  });

  it("leaves out listings whose whole percents in the index suffice, but whose published rate does not", async () => {
    // 6 of 8 is 0.75. This is in the same whole percent as the requested rate.
    expect(await found({ min_success_rate: 0.755, limit: 1 })).to.deep.equal([seller.tier2]);
    expect(await found({ min_success_rate: 0.755 })).to.not.include(seller.fair);
    const { agents, next_cursor } = await search({ min_success_rate: 0.755, max_price_usdc: "0.30" });
    expect({ agents, next_cursor }).to.deep.equal({ agents: [], next_cursor: null });
  });

  it("pages past a listing with the longest id that a listing can have", async () => {
    const page = async (cursor: string | null): Promise<SearchResponse> =>
      search({ capability: LONG, limit: 1, cursor });
    const agents: string[] = [];
    let cursor: string | null = null;
    do {
      const answer: SearchResponse = await page(cursor);
      agents.push(...answer.agents.map((it) => it.agent_id));
      cursor = answer.next_cursor;
    } while (cursor !== null && agents.length < 5);
    expect(agents).to.deep.equal([seller.tier2, seller.good, seller.fair]);

    const listings: string[] = [];
    for (let after = ""; ; ) {
      const path = `/v1/agents/${seller.tier2}/listings?limit=1${after && `&cursor=${after}`}`;
      const answer: { listings: { payment_mode: string }[]; next_cursor: string | null } =
        await api.get(path);
      listings.push(...answer.listings.map((it) => it.payment_mode));
      if (answer.next_cursor === null) break;
      after = answer.next_cursor;
    }
    expect(new Set(listings)).to.deep.equal(
      new Set(["direct", "platform_escrow:swarmwage-partnered", LONGEST_MODE]),
    );
  });

  it("orders and pages by kept money of any size", async () => {
    const request = { capability: RICH, order_by: "kept_usdc" };
    const whole = await found(request);
    expect(whole).to.have.members(rich.map(([agent]) => agent));
    expect(whole.at(-1)).to.equal(wallet(0xa1));
    const paged: string[] = [];
    for (let cursor: string | null = null, n = 0; n < 6; n++) {
      const answer: SearchResponse = await search({ ...request, limit: 1, cursor });
      paged.push(...answer.agents.map((it) => it.agent_id));
      cursor = answer.next_cursor;
      if (cursor === null) break;
    }
    expect(paged).to.deep.equal(whole);
  });

  it("names every field at fault", async () => {
    const wrong = {
      capability: "Text",
      max_price_usdc: 1,
      min_success_rate: 1.5,
      limit: 101,
      payment_mode: "escrow",
      max_price: "1.00",
    };
    const response = await post(wrong);
    expect(response.status).to.equal(400);
    expect(response.headers.get("content-type")).to.equal("application/problem+json");
    const { code, errors } = (await response.json()) as { code: string; errors: { field: string }[] };
    expect(code).to.equal("invalid_input");
    expect(new Set(errors.map((it) => it.field))).to.deep.equal(
      new Set(["capability", "max_price_usdc", "min_success_rate", "limit", "payment_mode", ""]),
    );
  });

  it("needs few prepared statements for all limits", async () => {
    const whole = (await search()).agents;
    for (let limit = 1; limit <= 100; limit++) {
      const page = await search({ limit });
      expect(page.agents, String(limit)).to.deep.equal(whole.slice(0, limit));
      expect(page.next_cursor === null, String(limit)).to.equal(limit >= whole.length);
    }
    const { rows } = await api.database.pool.query<{ name: string }>(
      "SELECT name FROM pg_prepared_statements",
    );
    const searches = rows.filter(({ name }) => /^search_\d+$/.test(name));
    expect(searches).to.have.length.within(1, 7);
  });

  it("refuses bodies that are not JSON, not a search or too long, and cursors of other lists", async () => {
    const answer = async (body: unknown) => {
      const response = await post(body);
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    expect(await answer("{")).to.deep.equal([400, "malformed_json"]);
    expect(await answer({})).to.deep.equal([400, "invalid_input"]);
    expect(await answer({ capability: `a.${"b".repeat(20_000)}` })).to.deep.equal([413, "payload_too_large"]);
    const cursors = ["x", "bnVsbA", Buffer.from('[1,"1","\\u0000"]').toString("base64url")];
    for (const cursor of cursors) {
      expect(await answer({ capability: CAPABILITY, cursor })).to.deep.equal([400, "invalid_cursor"]);
    }
  });
});
