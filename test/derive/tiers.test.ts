import { expect } from "chai";
import { updateAgent } from "tallystick-derive/agentRow";
import { openContext } from "tallystick-derive/applyContext";
import { settleTier } from "tallystick-derive/tiers";
import { AUDITED, offer, POOL } from "./auditScene.ts";
import { DAY, EventLog, wallet } from "./eventLog.ts";

const seller = wallet(1);
const capabilities = ["text.translate", "chart.generate", "code.review"];

function hires(log: EventLog, count: number, passed = true, spread = 3): void {
  for (let n = 0; n < count; n++) {
    log.hire(seller, wallet(10 + (n % 5)), { passed, capability: capabilities[n % spread], amount: 1_000 });
  }
}

async function tierAfter(build: (log: EventLog) => void): Promise<number | undefined> {
  const log = new EventLog();
  build(log);
  return (await log.derive()).agents[seller]?.trust_tier;
}

describe("trust tiers", () => {
  it("promote to Tier 2 at ten successes, a rate of nine tenths, and three capabilities", async () => {
    for (const [failures, successes, spread, tier] of [
      [0, 9, 3, 0],
      [0, 10, 3, 2],
      [0, 10, 2, 0],
      [1, 9, 3, 0],
      [1, 10, 3, 2],
      [2, 17, 3, 0],
      [2, 18, 3, 2],
    ] as const) {
      const result = await tierAfter((log) => {
        hires(log, failures, false, spread);
        hires(log, successes, true, spread);
      });
      expect(result, `${successes} of ${failures + successes} over ${spread}`).to.equal(tier);
    }
  });

  it("keep Tier 2 while the rate is high enough, also with fewer hires, one capability, or no hire at all", async () => {
    expect(
      await tierAfter((log) => {
        hires(log, 10);
        log.after(29 * DAY);
        hires(log, 1, true, 1);
        log.after(2 * DAY).tick();
      }),
    ).to.equal(2);
    expect(
      await tierAfter((log) => {
        hires(log, 10);
        log.after(31 * DAY).tick();
      }),
    ).to.equal(2);
  });

  it("revoke Tier 2 with a reason when the rate falls below nine tenths, at any number of hires", async () => {
    const log = new EventLog();
    hires(log, 18);
    hires(log, 2, false);
    expect((await log.derive()).agents[seller]?.trust_tier, "exactly 0.9").to.equal(2);
    hires(log, 1, false);
    const { agents, store } = await log.derive();
    expect(agents[seller]?.trust_tier).to.equal(0);
    const changes = [...store.rows("tierChange").values()].map(({ from, to, reason }) => ({
      from,
      to,
      reason,
    }));
    expect(changes).to.deep.equal([
      { from: 0, to: 2, reason: "10 successes at 9/10 over 3 capabilities" },
      { from: 2, to: 0, reason: "success_rate fell below 9/10" },
    ]);
    expect([...store.rows("tierChange").keys()]).to.deep.equal([`${seller}/0`, `${seller}/1`]);
  });

  it("follow new parameters from the next change of the agent's own figures on, whoever sends listings or money before", async () => {
    const operator = wallet(900);
    const host = { endpoint: "https://same.example" };
    for (const [successes, failures, change, passed, before, after] of [
      [18, 2, { tier2MinSuccessRate: { numerator: 1, denominator: 1 } }, true, 2, 0],
      [9, 0, { tier2MinSuccesses: 9 }, false, 0, 2],
    ] as const) {
      const log = new EventLog({ operator });
      const tier = async () => (await log.derive()).agents[seller]?.trust_tier;
      log.listing(wallet(2), "text.translate", host);
      log.listing(seller, "text.translate", host);
      hires(log, failures, false);
      hires(log, successes);
      log.record("params", operator, { version: 2, operator, ...change });
      expect(await tier(), "the parameters").to.equal(before);
      // The seller takes the place of the stranger among the agents with these tokens.
      log.listing(wallet(2), "text.translate", { ...host, retired: true });
      expect(await tier(), "a listing of a stranger").to.equal(before);
      log.listing(seller, "text.translate", { ...host, price_usdc: "0.51" });
      expect(await tier(), "a listing of its own").to.equal(before);
      for (let n = 10; n < 14; n++) log.transfer(wallet(50), wallet(n), 900_000_000);
      expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(2);
      expect(await tier(), "four buyers that count as one").to.equal(before);
      log.hire(seller, wallet(10), { passed, capability: capabilities[0], amount: 1_000 });
      expect(await tier(), "a hire").to.equal(after);
    }
  });

  it("need as many buyers as the parameters say", async () => {
    for (const [buyers, tier] of [
      [5, 2],
      [6, 0],
    ] as const) {
      const log = new EventLog({ tier2MinBuyers: buyers });
      hires(log, 15);
      expect((await log.derive()).agents[seller]?.trust_tier, `${buyers} needed, 5 exist`).to.equal(tier);
    }
  });

  it("show when a claim was verified, and when it was withdrawn", async () => {
    for (const [count, changes] of [
      [0, ["0 → 1: the human claim was verified", "1 → 0: the human claim was taken back"]],
      [
        10,
        [
          "0 → 1: the human claim was verified",
          "1 → 2: 10 successes at 9/10 over 3 capabilities",
          "2 → 0: the human claim was taken back",
        ],
      ],
    ] as const) {
      const attestor = wallet(900);
      const log = new EventLog({ claimAttestors: [attestor], tier2RequiresClaim: true });
      const claim = (state: string) =>
        log.record("claim", attestor, {
          agent_id: seller,
          x_handle: "ada",
          verification_hash: "a".repeat(64),
          state,
        });
      log.listing(seller, "text.translate");
      claim("verified");
      hires(log, count);
      claim("unclaimed");
      const { store } = await log.derive();
      const said = [...store.rows("tierChange").values()].map(
        ({ from, to, reason }) => `${from} → ${to}: ${reason}`,
      );
      expect(said).to.deep.equal(changes);
    }
  });

  it("revoke Tier 2 at a tick, when old successes leave the window", async () => {
    expect(
      await tierAfter((log) => {
        hires(log, 10);
        log.after(29 * DAY);
        hires(log, 1, false);
        log.after(2 * DAY).tick();
      }),
    ).to.equal(0);
  });

  it("count dampened successes exactly: fifty successes in a ring of five count as ten", async () => {
    const ring = [1, 2, 3, 4, 5].map(wallet);
    for (const [count, tier] of [
      [49, 0],
      [50, 2],
    ] as const) {
      const result = await tierAfter((log) => {
        for (const member of ring) log.transfer(wallet(100), member, 1_000_000);
        for (const member of ring) log.listing(member, "text.translate");
        for (let n = 0; n < count; n++) {
          log.hire(seller, ring[1 + (n % 4)] ?? seller, { capability: capabilities[n % 3], amount: 1_000 });
        }
      });
      expect(result, `${count} hires`).to.equal(tier);
    }
  });

  it("give an auditor a place on the rosters while it is in Tier 2", async () => {
    const log = new EventLog({ audit: { operators: { [AUDITED]: { pool: POOL } } } });
    log.listing(seller, "text.translate");
    offer(log, seller);
    const places = async () =>
      (await log.derive()).store.rows("roster").get(`${AUDITED}/text.translate`)?.size ?? 0;
    hires(log, 9);
    expect(await places()).to.equal(0);
    hires(log, 1);
    expect(await places()).to.equal(1);
    hires(log, 2, false);
    expect(await places()).to.equal(0);
  });

  it("are noted for the rosters when an agent rises to Tier 2 or falls from it, and at no other change", async () => {
    const log = new EventLog();
    log.listing(seller, "text.translate");
    hires(log, 10);
    for (const it of [2, 3]) log.hire(wallet(it), wallet(10));
    const { store } = await log.derive();
    const noted = (agent: string, change: object) => {
      const context = openContext(store, { kind: "tick", block: log.block, time: log.time });
      updateAgent(context, agent, change);
      settleTier(context, agent);
      return [...context.tiered];
    };
    expect(noted(seller, { successWeight: "5" }), "it falls").to.deep.equal([[seller, false]]);
    expect(noted(wallet(2), { claimStatus: "verified" }), "Tier 1").to.deep.equal([]);
    const promoted = { ratedWeight: "10", successWeight: "10", capabilities: 3, distinctBuyers: 5 };
    expect(noted(wallet(3), promoted), "it rises").to.deep.equal([[wallet(3), true]]);
    expect(noted(seller, { ratedWeight: "11" }), "it stays").to.deep.equal([]);
  });
});
