import { expect } from "chai";
import { allItems } from "tallystick-derive/lists";
import { DAY, EventLog, LEDGER, OTHER_LEDGER, wallet } from "./eventLog.ts";

const seller = wallet(1);
const buyer = wallet(2);
const attestor = wallet(7);

async function sellerOf(log: EventLog) {
  return (await log.derive()).agents[seller];
}

function rate(log: EventLog, receipt: string, stars: number, more = {}): string {
  return log.record("rating", buyer, { receipt, side: "buyer", stars, ...more });
}

async function reasons(log: EventLog): Promise<(string | null)[]> {
  const { store } = await log.derive();
  return [...store.rows("record").values()].filter((it) => it.status === "invalid").map((it) => it.reason);
}

describe("ratings", () => {
  it("are averaged with a weight of e^-0.1 for each day of age, and the average does not change as time passes", async () => {
    const log = new EventLog();
    rate(log, log.hire(seller, buyer), 1);
    log.after(2 * DAY);
    rate(log, log.hire(seller, buyer), 5);
    const decay = 0.904837418036 ** 2;
    const expected = Number(((decay + 5) / (decay + 1)).toFixed(9));
    expect((await sellerOf(log))?.avg_stars).to.equal(expected);
    log.after(20 * DAY).tick();
    const agent = await sellerOf(log);
    expect([agent?.avg_stars, agent?.total_ratings]).to.deep.equal([expected, 2]);
    log.after(8 * DAY).tick();
    expect((await sellerOf(log))?.avg_stars, "the first rating has left the window").to.equal(5);
    log.after(2 * DAY).tick();
    const later = await sellerOf(log);
    expect([later?.avg_stars, later?.total_ratings]).to.deep.equal([null, 2]);
  });

  it("wait until their hire is counted", async () => {
    const log = new EventLog();
    const tx = log.hash();
    rate(log, log.receipt(seller, buyer, { tx }), 4);
    expect(await sellerOf(log)).to.equal(undefined);
    log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    expect((await sellerOf(log))?.avg_stars).to.equal(4);
  });

  it("are accepted once for each side of a receipt, from that side's wallet, if the receipt exists", async () => {
    const log = new EventLog();
    const receipt = log.hire(seller, buyer);
    rate(log, receipt, 4);
    rate(log, receipt, 1);
    log.record("rating", wallet(5), { receipt, side: "buyer", stars: 1 });
    rate(log, "0".repeat(64), 1);
    rate(log, receipt, 6);
    log.record("rating", seller, { receipt, side: "seller", stars: 2 });
    expect((await reasons(log)).join("\n")).to.match(
      /rated.*before\n.*signer must be.*\n.*no valid receipt.*\n.*stars/s,
    );
    const { agents } = await log.derive();
    expect([agents[seller]?.avg_stars, agents[seller]?.total_ratings]).to.deep.equal([4, 1]);
    expect(agents[buyer]?.total_ratings, "the seller's stars are shown with the hire only").to.equal(0);
  });

  it("do not count for an escrow that timed out after delivery, and the seller's rating is still shown", async () => {
    const log = new EventLog();
    const id = log.deposit(seller, buyer);
    const late = log.receipt(seller, buyer, { escrow_id: id });
    rate(log, late, 1);
    log.record("rating", seller, { receipt: late, side: "seller", stars: 2 });
    log.delivered(id).timedOut(id, true).after(60);
    rate(log, log.hire(seller, buyer), 5);
    const { agents, store } = await log.derive();
    expect(agents[seller]).to.include({ avg_stars: 5, total_ratings: 1, success_rate: 1 });
    expect(store.rows("rating").get(`${late}/seller`)?.status).to.equal("counted");
    log.after(30 * DAY - 60).tick();
    expect((await sellerOf(log))?.avg_stars, "the rating that never counted has left the window").to.equal(5);
  });

  it("between agents of one cluster weigh 1/size of the cluster", async () => {
    const log = new EventLog();
    for (const member of [1, 2, 3, 4].map(wallet)) log.transfer(wallet(100), member, 1_000_000);
    for (const member of [1, 2, 3, 4].map(wallet)) log.listing(member, "text.translate");
    rate(log, log.hire(seller, buyer), 5);
    const outside = log.hire(seller, wallet(9));
    log.record("rating", wallet(9), { receipt: outside, side: "buyer", stars: 1 });
    expect((await sellerOf(log))?.avg_stars).to.equal(1.8);
  });

  it("count in a window that became wider after all other ratings of their day had left the window", async () => {
    const operator = wallet(9);
    const log = new EventLog({ operator, windowSeconds: 15 * DAY });
    const early = log.hire(seller, buyer);
    const escrowId = log.deposit(seller, buyer);
    const late = log.receipt(seller, buyer, { escrow_id: escrowId });
    log.record("rating", buyer, { receipt: early, side: "buyer", stars: 1 });
    log.record("rating", buyer, { receipt: late, side: "buyer", stars: 4 });
    const stars = async () => (await log.derive()).agents[seller]?.avg_stars;
    expect(await stars()).to.equal(1);
    log.after(20 * DAY).tick();
    expect(await stars()).to.equal(null);
    const today = log.hire(seller, buyer);
    log.record("rating", buyer, { receipt: today, side: "buyer", stars: 5 });
    expect(await stars()).to.equal(5);
    log.record("params", operator, { version: 2, operator, windowSeconds: 40 * DAY });
    log.released(escrowId);
    const decay = 0.904837418036 ** 20;
    expect(await stars()).to.equal(Number(((4 * decay + 5) / (decay + 1)).toFixed(9)));
    log.after(20 * DAY).tick();
    expect(await stars()).to.equal(null);
  });

  it("of one day are one sum; the sum is read again if all of them left the window and another one comes", async () => {
    const operator = wallet(9);
    const log = new EventLog({ operator, windowSeconds: 15 * DAY });
    const escrowId = log.deposit(seller, buyer);
    const late = log.receipt(seller, buyer, { escrow_id: escrowId });
    for (const stars of [1, 2, 4]) rate(log, log.hire(seller, buyer), stars);
    rate(log, late, 5);
    const day = Math.floor(log.time / DAY);
    const days = async () => allItems((await log.derive()).store, `stars/${seller}`);
    expect(await days()).to.deep.equal([`${day}`]);
    log.after(DAY);
    rate(log, log.hire(seller, buyer), 3);
    expect(await days()).to.deep.equal([`${day}`, `${day + 1}`]);
    log.after(16 * DAY).tick();
    log.record("params", operator, { version: 2, operator, windowSeconds: 40 * DAY });
    log.released(escrowId);
    expect(await days()).to.deep.equal([`${day}`, `${day + 1}`, `${day}`]);
    expect((await sellerOf(log))?.avg_stars).to.equal(5);
  });

  it("leave the average only if they were in it", async () => {
    const log = new EventLog();
    const receipt = log.hire(seller, buyer);
    log.record("rating", seller, { receipt, side: "seller", stars: 2 });
    rate(log, receipt, 4);
    const { store } = await log.derive();
    const due = [...store.rows("list").values()].filter(({ id }) => id.startsWith("schedule/"));
    const ratings = due.flatMap(({ tail }) => tail.split("\n")).filter((it) => it.includes(" rating "));
    expect(ratings).to.deep.equal([`${log.time + 30 * DAY} rating ${receipt}/buyer`]);
  });
});

describe("latency and prices", () => {
  it("are given as nearest-rank percentiles and a mean; the buyer's telemetry has priority over the seller's figure", async () => {
    const log = new EventLog();
    const latencies = [100, 200, 300, 400, 1000];
    const receipts = latencies.map((latency_ms) => log.hire(seller, buyer, { latency_ms }));
    let agent = await sellerOf(log);
    expect(agent?.avg_latency_ms).to.equal(400);
    expect([agent?.avg_latency_ms_p50, agent?.avg_latency_ms_p95, agent?.avg_latency_ms_p99]).to.deep.equal([
      300, 1000, 1000,
    ]);
    log.record("telemetry", buyer, { receipt: receipts[0] ?? "", latency_ms: 70_000 });
    agent = await sellerOf(log);
    expect([agent?.avg_latency_ms, agent?.avg_latency_ms_p50, agent?.avg_latency_ms_p95]).to.deep.equal([
      14_380, 400, 70_000,
    ]);
    log.after(31 * DAY).tick();
    expect((await sellerOf(log))?.avg_latency_ms).to.equal(null);
  });

  it("are given as the median price of each capability; for an even number of prices, as the mean of the middle two", async () => {
    const log = new EventLog();
    for (const amount of [900_000, 100_000, 500_000]) log.hire(seller, buyer, { amount });
    for (const amount of [1_000, 2_001]) log.hire(seller, buyer, { amount, capability: "code.review" });
    expect((await sellerOf(log))?.avg_cost_per_capability).to.deep.equal({
      "code.review": "0.001501",
      "text.translate": "0.50",
    });
  });
});

describe("telemetry", () => {
  it("has priority over the seller's claim, but not over the buyer's own signature on the receipt", async () => {
    const failed = { latency_ms: 5, verification: { all_passed: false } };
    const log = new EventLog();
    const claimed = log.hire(seller, buyer);
    expect((await sellerOf(log))?.success_rate).to.equal(1);
    log.record("telemetry", buyer, { receipt: claimed, ...failed });
    expect((await sellerOf(log))?.success_rate).to.equal(0);
    const signed = log.hire(seller, buyer, { buyer_signature: "0x02" });
    log.record("telemetry", buyer, { receipt: signed, ...failed });
    expect((await sellerOf(log))?.success_rate).to.equal(0.5);
  });

  it("comes from the receipt's buyer, once, also before the hire is counted", async () => {
    const log = new EventLog();
    const tx = log.hash();
    const receipt = log.receipt(seller, buyer, { tx });
    log.record("telemetry", seller, { receipt, verification: { all_passed: true } });
    log.record("telemetry", buyer, { receipt, verification: { all_passed: false } });
    log.record("telemetry", buyer, { receipt, verification: { all_passed: true } });
    log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    expect((await sellerOf(log))?.success_rate).to.equal(0);
    expect(await reasons(log)).to.have.length(2);
  });

  it("has no priority over an escrow", async () => {
    const log = new EventLog();
    const id = log.deposit(seller, buyer);
    log.delivered(id).released(id);
    const receipt = log.receipt(seller, buyer, { escrow_id: id });
    log.record("telemetry", buyer, { receipt, latency_ms: 9, verification: { all_passed: false } });
    const agent = await sellerOf(log);
    expect([agent?.success_rate, agent?.avg_latency_ms]).to.deep.equal([1, 9]);
  });
});

describe("human claims", () => {
  const claim = (log: EventLog, state: string, by = attestor) =>
    log.record("claim", by, { agent_id: seller, x_handle: "ada", verification_hash: "a".repeat(64), state });

  it("come from a claim attestor and give Tier 1 when verified, before or after the agent registers", async () => {
    const log = new EventLog({ claimAttestors: [attestor] });
    claim(log, "claimed");
    log.listing(seller, "text.translate");
    let agent = await sellerOf(log);
    expect([agent?.claim_status, agent?.claimed, agent?.trust_tier]).to.deep.equal(["claimed", true, 0]);
    claim(log, "verified", wallet(66));
    expect((await sellerOf(log))?.trust_tier, "not by a stranger").to.equal(0);
    claim(log, "verified");
    agent = await sellerOf(log);
    expect([agent?.claim_status, agent?.trust_tier]).to.deep.equal(["verified", 1]);
    claim(log, "unclaimed");
    expect((await sellerOf(log))?.trust_tier).to.equal(0);
  });

  it("count once, so nobody who writes a ledger brings back a claim that was withdrawn", async () => {
    const body = { agent_id: seller, x_handle: "ada", verification_hash: "a".repeat(64) };
    for (const form of ["said", "record"] as const) {
      const log = new EventLog({ claimAttestors: [attestor, wallet(67)] });
      const state = async () => (await sellerOf(log))?.claim_status;
      log.listing(seller, "text.translate");
      const verified = log[form]("claim", attestor, { ...body, state: "verified" });
      const withdrawn = log[form]("claim", attestor, { ...body, state: "unclaimed" });
      log.replay(verified, { ledger: form === "said" ? OTHER_LEDGER : LEDGER });
      expect(await state(), form).to.equal("unclaimed");
      expect(await reasons(log)).to.deep.equal([
        "the attestor made this statement before; another nonce makes a new one",
      ]);
      log[form]("claim", attestor, { ...body, state: "verified", nonce: "2" });
      log.replay(withdrawn);
      expect(await state(), "another nonce").to.equal("verified");
      log[form]("claim", wallet(67), { ...body, state: "unclaimed" });
      expect(await state(), "another attestor").to.equal("unclaimed");
    }
  });

  it("keep an agent in Tier 1 when it loses Tier 2", async () => {
    const log = new EventLog({ claimAttestors: [attestor] });
    claim(log, "verified");
    for (let n = 0; n < 10; n++) log.hire(seller, buyer, { capability: `a.c${n % 3}`, amount: 1_000 });
    expect((await sellerOf(log))?.trust_tier).to.equal(2);
    for (let n = 0; n < 2; n++) log.hire(seller, buyer, { passed: false, amount: 1_000 });
    expect((await sellerOf(log))?.trust_tier).to.equal(1);
  });

  it("can be made a condition of Tier 2", async () => {
    const log = new EventLog({ claimAttestors: [attestor], tier2RequiresClaim: true });
    for (let n = 0; n < 10; n++) log.hire(seller, buyer, { capability: `a.c${n % 3}`, amount: 1_000 });
    expect((await sellerOf(log))?.trust_tier).to.equal(0);
    claim(log, "verified");
    expect((await sellerOf(log))?.trust_tier).to.equal(2);
  });
});
