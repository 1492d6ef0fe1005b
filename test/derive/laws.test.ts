import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import type { Reputation } from "tallystick-derive/reputation";
import type { Snapshot } from "tallystick-derive/snapshot";
import type { Address } from "tallystick-protocol/address";
import { DAY, EventLog, wallet } from "./eventLog.ts";
import { generatedLog, tierLog } from "./oracle/generatedLog.ts";

const RUNS = { numRuns: 40 };

function addressesOf({ agents }: Snapshot): Address[] {
  return Object.keys(agents) as Address[];
}

function fieldsOf({ agents }: Snapshot, address: Address): Reputation {
  const fields = agents[address];
  if (fields === undefined) throw new Error(`${address} is not an agent`);
  return fields;
}

describe("laws of reputation", () => {
  it("nobody changes another agent's reputation by payments, dust or deposits for that agent", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const before = await log.derive();
        for (const [n, agent] of addressesOf(before).entries()) {
          const stranger = wallet(500 + n);
          log.transfer(stranger, agent, 1 + n * 40_000, { authorized: n % 2 === 0 });
          log.refunded(log.deposit(agent, stranger), stranger);
          log.timedOut(log.deposit(agent, stranger));
        }
        const after = await log.derive();
        for (const address of addressesOf(before)) {
          expect(after.agents[address], address).to.deep.equal(before.agents[address]);
        }
      }),
      RUNS,
    );
  });

  /** The figures of an agent, except those that its cluster changes. Similar listings may put agents into a cluster. */
  const withoutCluster = ({
    cluster_id,
    cluster_size,
    signals_tripped,
    distinct_buyers,
    ...fields
  }: Reputation) => fields;

  it("copies of an agent's listings may put the agent into a cluster of similar listings, and change nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(generatedLog, tierLog), async (log) => {
        const before = await log.derive();
        const listings = [...before.store.rows("listing").values()];
        for (const { agent, capability, endpoint, priceUsdc } of listings) {
          log.listing(wallet(500 + Number(agent)), capability, { endpoint, price_usdc: priceUsdc });
        }
        const after = await log.derive();
        for (const address of addressesOf(before)) {
          const [a, b] = [before.agents[address], after.agents[address]];
          expect(b && withoutCluster(b), address).to.deep.equal(a && withoutCluster(a));
        }
      }),
      RUNS,
    );
  });

  it("trust is not passed on: purchases from a new seller change no figure that buyers have as sellers, and give the seller no tier", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const before = await log.derive();
        const [seller, ...buyers] = [wallet(501), ...addressesOf(before)];
        log.listing(seller, "text.translate");
        for (const buyer of buyers) {
          const receipt = log.hire(seller, buyer, { capability: "text.translate" });
          log.record("rating", buyer, { receipt, side: "buyer", stars: 5 });
          log.record("rating", seller, { receipt, side: "seller", stars: 1 });
          log.record("telemetry", buyer, { receipt, latency_ms: 9, verification: { all_passed: false } });
        }
        const after = await log.derive();
        for (const address of addressesOf(before)) {
          const {
            hires_bought: _,
            silent_timeout_rate,
            refund_after_delivery_rate,
            ...then
          } = withoutCluster(fieldsOf(before, address));
          expect(fieldsOf(after, address), "figures as a seller").to.deep.include(then);
        }
        expect(after.agents[seller]?.trust_tier ?? 0, "the new seller's tier").to.equal(0);
      }),
      RUNS,
    );
  });

  it("no rating changes a tier, and no stake, verify, contest, review, pulse or endorsement changes a figure of SHP", async () => {
    const tiersOf = ({ store }: Awaited<ReturnType<EventLog["derive"]>>) => [
      ...store.rows("tierChange").values(),
    ];
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const before = await log.derive();
        // Each rating is replaced by a rating of a receipt that does not exist. The rating is not left out, because a
        // record of the new form also ends the old form in its ledger.
        const silent = new EventLog();
        const unsaid = (it: DeriveEvent): DeriveEvent =>
          it.kind === "record" && it.type === "rating"
            ? { ...it, body: { ...it.body, receipt: "00".repeat(32) } }
            : it;
        silent.events.splice(0, 1, ...log.events.map(unsaid));
        expect(tiersOf(await silent.derive())).to.deep.equal(tiersOf(before));
        for (const [n, agent] of addressesOf(before).entries()) {
          for (const type of ["stake", "verify", "contest", "review", "pulse", "endorsement"]) {
            log.record(type, n % 2 === 0 ? agent : wallet(500), { agent_id: agent, verdict: "good" });
          }
        }
        expect((await log.derive()).agents).to.deep.equal(before.agents);
      }),
      RUNS,
    );
  });

  it("no hire counts twice, even when every counted receipt is settled again", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const before = await log.derive();
        const receipts = log.events.filter(
          (it): it is RecordEvent => it.kind === "record" && it.type === "receipt",
        );
        const counted = new Set(
          [...before.store.rows("receipt").values()]
            .filter((it) => it.status === "counted")
            .map((it) => it.id),
        );
        for (const { signer, body, hash } of receipts)
          if (counted.has(hash)) log.record("receipt", signer, body);
        const after = await log.derive();
        expect(after.store.rows("hire").size).to.equal(before.store.rows("hire").size);
        const told = [...after.store.rows("hire").values()].flatMap((it) => it.receipt ?? []);
        expect(new Set(told).size).to.equal(told.length);
      }),
      RUNS,
    );
  });

  it("in a ring of n agents, the n−1 hires of one member by the other members count (n−1)/n in total", async () => {
    for (const n of [4, 5, 8, 50]) {
      const log = new EventLog();
      const ring = Array.from({ length: n }, (_, at) => wallet(at + 1));
      for (const member of ring) log.transfer(wallet(100), member, 10_000_000);
      for (const member of ring) log.after(1).listing(member, "text.translate");
      const [seller = wallet(1), ...buyers] = ring;
      for (const buyer of buyers) log.hire(seller, buyer, { amount: 1_000 });
      const { agents } = await log.derive();
      expect(agents[seller]?.last_30d_hire_count, `ring of ${n}`).to.equal(Number(((n - 1) / n).toFixed(9)));
    }
  });

  it("a larger cluster never raises the weight of a later hire inside it", async () => {
    let last = Number.POSITIVE_INFINITY;
    for (let n = 3; n <= 12; n++) {
      const log = new EventLog();
      const ring = Array.from({ length: n }, (_, at) => wallet(at + 1));
      for (const member of ring) log.transfer(wallet(100), member, 10_000_000);
      for (const member of ring) log.after(1).listing(member, "text.translate");
      for (let sale = 0; sale < 6; sale++) log.hire(wallet(1), wallet(2), { amount: 1_000 });
      const { agents } = await log.derive();
      const weight = agents[wallet(1)]?.last_30d_hire_count ?? 0;
      expect(weight).to.be.at.most(last);
      last = weight;
    }
    expect(last).to.equal(0.5);
  });

  it("an outsider that joins two strangers in a cluster must give each a quarter of everything that it ever received", async () => {
    for (const [gift, bound] of [
      [3_333_333, false],
      [3_333_334, true],
    ] as const) {
      const log = new EventLog();
      const strangers = [1, 2].map(wallet);
      for (const [n, it] of strangers.entries()) {
        log.after(2 * DAY, 300).transfer(wallet(600 + n), it, 10_000_000);
        log.listing(it, "text.translate");
      }
      log.after(2 * DAY);
      for (const it of [...strangers, wallet(701), wallet(702)]) log.transfer(wallet(700), it, gift);
      for (const it of [701, 702].map(wallet)) log.after(1, 300).listing(it, "text.translate");
      const { agents } = await log.derive();
      expect(agents[wallet(1)]?.cluster_id !== null, `${gift} each`).to.equal(bound);
    }
  });

  it("Tier 2 by self-payment costs ten payments of 0.001 USDC between two wallets without a common source", async () => {
    for (const [hires, tier] of [
      [9, 0],
      [10, 2],
    ] as const) {
      const log = new EventLog();
      const [seller, buyer] = [wallet(1), wallet(2)];
      log.transfer(wallet(600), buyer, 10_000);
      for (let n = 0; n < hires; n++)
        log.hire(seller, buyer, { capability: `work.kind${n % 3}`, amount: 1_000 });
      const { agents } = await log.derive();
      expect(agents[seller], `${hires} hires`).to.include({ trust_tier: tier, distinct_buyers: 1 });
    }
  });
});
