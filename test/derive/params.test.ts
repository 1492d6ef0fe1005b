import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, wallet } from "./eventLog.ts";

const operator = wallet(900);
const seller = wallet(1);

function publish(log: EventLog, body: RecordBody, by = operator): void {
  log.after(1).record("params", by, { operator, ...body });
}

describe("params records", () => {
  it("apply from their position on, by the operator only, and only with a higher version", async () => {
    const log = new EventLog({ operator });
    log.hire(seller, wallet(2), { amount: 5_000 });
    publish(log, { version: 2, minHireAtomic: "10000" });
    log.hire(seller, wallet(2), { amount: 5_000 });
    publish(log, { version: 2, minHireAtomic: "1" });
    publish(log, { version: 3, minHireAtomic: "1" }, wallet(901));
    log.hire(seller, wallet(2), { amount: 5_000 });
    const { agents, store } = await log.derive();
    expect(agents[seller]?.last_30d_hire_count).to.equal(1);
    expect(store.rows("state").get("state")?.paramsVersion).to.equal(2);
    expect([...store.rows("record").values()].flatMap((it) => it.reason ?? [])).to.deep.equal([
      "body.version must be above 2",
      `signer ${wallet(901)} is not the operator`,
    ]);
  });

  it("enter the digest with their version", async () => {
    const quiet = new EventLog({ operator });
    quiet.after(1).tick();
    const changed = new EventLog({ operator });
    publish(changed, { version: 2 });
    changed.tick();
    const [a, b] = [await quiet.derive(), await changed.derive()];
    expect(a.store.rows("state").get("state")?.root).to.equal(b.store.rows("state").get("state")?.root);
    expect(a.digest).to.not.equal(b.digest);
  });

  it("that lower clusterOthers join all agents in a span at the next funding, not only the nearest few", async () => {
    const funder = wallet(100);
    const log = new EventLog({ operator });
    publish(log, { version: 2, clusterOthers: 5 });
    // Five fundings, a minute apart. The signal does not trip, because it needs five other agents.
    for (const n of [1, 2, 3, 4, 5]) log.after(60, 300).transfer(funder, wallet(n), 1_000_000);
    for (const n of [1, 2, 3, 4, 5]) log.after(1, 300).listing(wallet(n), "text.translate");
    publish(log, { version: 3, clusterOthers: 2 });
    let { agents } = await log.derive();
    expect(agents[wallet(1)]?.cluster_id, "new parameters alone make no cluster").to.equal(null);

    log.after(60, 300).listing(wallet(6), "text.translate");
    log.transfer(funder, wallet(6), 1_000_000);
    ({ agents } = await log.derive());
    for (const n of [1, 2, 3, 4, 5, 6]) expect(agents[wallet(n)]?.cluster_size, `wallet ${n}`).to.equal(6);
  });

  it("that lower clusterOthers join all agents with similar listings at the next such listing, but no agent that retired its listing", async () => {
    const log = new EventLog({ operator });
    const list = (n: number, retired = false) =>
      log.after(1).listing(wallet(n), "text.translate", { endpoint: "https://one.example", retired });
    publish(log, { version: 2, clusterOthers: 5 });
    for (const n of [1, 2, 3]) list(n);
    publish(log, { version: 3, clusterOthers: 1 });
    list(3, true);
    list(4);
    const { agents } = await log.derive();
    expect([1, 2, 3, 4].map((n) => agents[wallet(n)]?.cluster_size)).to.deep.equal([3, 3, 1, 3]);
  });

  it("that widen the span or the batch join all agents in the wider span or batch", async () => {
    for (const [narrow, wide, blocks] of [
      [{ fundingSpanSeconds: 10 }, { fundingSpanSeconds: DAY }, 300],
      [{ deployBatchBlocks: 1, fundingSpanSeconds: 10 }, { deployBatchBlocks: 256 }, 10],
    ] as const) {
      const funder = wallet(100);
      const log = new EventLog({ operator });
      publish(log, { version: 2, ...narrow });
      for (const n of [1, 2, 3, 4, 5]) log.after(60, blocks).transfer(funder, wallet(n), 1_000_000);
      for (const n of [1, 2, 3, 4, 5]) log.after(60, blocks).listing(wallet(n), "text.translate");
      publish(log, { version: 3, ...narrow, ...wide });
      log.after(60, blocks).listing(wallet(6), "text.translate");
      log.transfer(funder, wallet(6), 1_000_000);
      const { agents } = await log.derive();
      const sizes = [1, 2, 3, 4, 5, 6].map((n) => agents[wallet(n)]?.cluster_size);
      expect(sizes, JSON.stringify(wide)).to.deep.equal([6, 6, 6, 6, 6, 6]);
    }
  });

  it("that publish a hub drop the hub's signals, keep other signals, and undo weights that came only from dropped signals", async () => {
    const hub = wallet(100);
    const owner = wallet(101);
    const log = new EventLog({ operator });
    for (const n of [1, 2, 3, 4, 5, 6]) log.transfer(hub, wallet(n), 1_000_000);
    for (const n of [1, 2, 3, 4]) log.transfer(owner, wallet(n), 1_000_000);
    for (const n of [1, 2, 3, 4, 5, 6]) log.after(1, 300).listing(wallet(n), "text.translate");
    for (const n of [2, 3, 5, 6]) log.hire(seller, wallet(n), { amount: 1_200 });
    let { agents } = await log.derive();
    expect(agents[seller]?.cluster_size).to.equal(6);
    expect(agents[seller]?.distinct_buyers).to.equal(1);

    publish(log, { version: 2, hubs: [hub] });
    ({ agents } = await log.derive());
    expect(agents[seller]?.cluster_size, "the other owner's four are left").to.equal(4);
    expect(agents[wallet(5)]?.cluster_id).to.equal(null);
    expect(agents[wallet(5)]?.signals_tripped).to.deep.equal([]);
    expect(agents[seller]?.distinct_buyers, "2 and 3 together, 5, 6").to.equal(3);
    // The hires with 2 and 3, which are still in the seller's cluster, keep their weight. The hires with 5 and 6 weigh
    // 1 from here on.
    expect(agents[seller]?.last_30d_hire_count).to.equal(Number((2 / 6 + 2).toFixed(9)));
    expect(agents[seller]?.last_24h_volume_usdc).to.equal("0.0028");

    log.hire(seller, wallet(5), { amount: 1_200 });
    log.hire(seller, wallet(2), { amount: 1_200 });
    ({ agents } = await log.derive());
    expect(agents[seller]?.last_30d_hire_count).to.equal(Number((2 / 6 + 2 + 1 + 1 / 4).toFixed(9)));
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(3);
  });

  it("that publish a hub change no weight of a hire outside of the window, and a changed weight leaves the window in full", async () => {
    const hub = wallet(100);
    const members = [1, 2, 3, 4].map(wallet);
    const log = new EventLog({ operator });
    for (const member of members) log.transfer(hub, member, 1_000_000);
    for (const member of members) log.after(1, 300).listing(member, "text.translate");
    log.hire(wallet(1), wallet(2), { amount: 1_200 });
    log.after(30 * DAY).tick();
    log.hire(wallet(1), wallet(3), { amount: 1_200 });
    publish(log, { version: 2, hubs: [hub] });
    let { agents, store } = await log.derive();
    expect(agents[wallet(1)]).to.include({ last_30d_hire_count: 1, last_24h_volume_usdc: "0.0012" });
    const sizes = [...store.rows("hire").values()].map((it) => it.clusterSize);
    expect(sizes).to.deep.equal([4, 1]);
    log.after(DAY).tick();
    ({ agents, store } = await log.derive());
    expect(agents[wallet(1)]).to.include({ last_30d_hire_count: 1, last_24h_volume_usdc: "0.00" });
    log.after(30 * DAY).tick();
    ({ agents } = await log.derive());
    expect(agents[wallet(1)]).to.include({
      last_30d_hire_count: 0,
      last_30d_hire_count_raw: 0,
      success_rate: null,
    });
  });

  it("that remove a hub do not restore the hub's earlier signals, for the agents that it funded or for the hub itself", async () => {
    const hub = wallet(100);
    const log = new EventLog({ operator });
    for (const n of [1, 2, 3, 4]) log.transfer(hub, wallet(n), 1_000_000);
    for (const n of [1, 2, 3, 4]) log.after(1, 300).listing(wallet(n), "text.translate");
    publish(log, { version: 2, hubs: [hub] });
    publish(log, { version: 3, hubs: [] });
    log.after(1, 300).listing(hub, "text.translate");
    let { agents } = await log.derive();
    expect([hub, wallet(1)].map((it) => agents[it]?.cluster_id)).to.deep.equal([null, null]);

    for (const n of [5, 6, 7, 8]) log.transfer(hub, wallet(n), 1_000_000);
    for (const n of [5, 6, 7, 8]) log.after(1, 300).listing(wallet(n), "text.translate");
    ({ agents } = await log.derive());
    expect(agents[hub]?.cluster_size, "later fundings of the former hub count").to.be.greaterThan(4);
  });

  it("that remove a hub do not forget its transfers: the next agent that it funded within the span joins the earlier ones", async () => {
    const hub = wallet(100);
    const log = new EventLog({ operator });
    for (const n of [1, 2, 3, 4, 5]) log.transfer(hub, wallet(n), 1_000_000);
    for (const n of [1, 2, 3, 4]) log.listing(wallet(n), `text.task${n}`);
    publish(log, { version: 2, hubs: [hub] });
    publish(log, { version: 3, hubs: [] });
    log.listing(wallet(5), "text.task5");
    const { agents } = await log.after(60).tick().derive();
    for (const n of [1, 2, 3, 4, 5]) expect(agents[wallet(n)]?.cluster_size, `wallet ${n}`).to.equal(5);
  });

  for (const when of ["before", "after"]) {
    it(`that publish a hub keep another funder in a cluster with all its own groups, if the funder registers ${when} them`, async () => {
      const [owner, hub] = [wallet(100), wallet(101)];
      const log = new EventLog({ operator });
      for (let n = 1; n <= 8; n++) log.after(1, 300).listing(wallet(n), `text.task${n}`);
      for (const n of [1, 2, 3, 4]) log.transfer(owner, wallet(n), 1_000_000);
      // The hub joins the owner's two groups into one cluster, in which one agent could represent both groups.
      for (let n = 1; n <= 8; n++) log.transfer(hub, wallet(n), 2_000_000);
      log.after(5 * DAY);
      for (const n of [5, 6, 7, 8]) log.transfer(owner, wallet(n), 9_000_000);
      if (when === "before") log.after(1, 300).listing(owner, "code.review");
      publish(log, { version: 2, hubs: [hub] });
      if (when === "after") log.after(1, 300).listing(owner, "code.review");
      const { agents } = await log.derive();
      for (let n = 1; n <= 8; n++) expect(agents[wallet(n)]?.cluster_size, `wallet ${n}`).to.equal(9);
      expect(agents[owner]?.cluster_size).to.equal(9);
    });
  }

  it("that publish a second hub do not rebuild clusters that only the first hub held together", async () => {
    const [ownerOfA, ownerOfB, ownerOfC, friend, first, second] = [100, 101, 102, 103, 110, 111].map(wallet);
    const log = new EventLog({ operator });
    const fund = (funder: Address | undefined, members: number[], amount: number) => {
      for (const n of members) log.transfer(funder ?? seller, wallet(n), amount);
    };
    const [a, b, c] = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10, 11, 12],
    ] as const;
    for (const n of [...a, ...b, ...c]) log.after(1, 300).listing(wallet(n), `text.task${n}`);
    fund(ownerOfA, [...a], 1_000_000);
    fund(ownerOfC, [...c], 1_000_000);
    fund(ownerOfB, [...b], 1_000_000);
    fund(second, [...a], 2_000_000);
    log.after(5 * DAY);
    fund(first, [1, 2, 5, 6], 10_000_000);
    publish(log, { version: 2, hubs: [first ?? seller] });
    log.after(5 * DAY);
    // Now B is in one cluster with C, and nothing joins B to A any more.
    fund(friend, [9, 10, 5, 6], 30_000_000);
    publish(log, { version: 3, hubs: [first ?? seller, second ?? seller] });
    const { agents, clusters } = await log.derive();
    const of = (members: readonly number[]) => members.map((n) => agents[wallet(n)]?.cluster_size);
    expect(of([...a])).to.deep.equal([4, 4, 4, 4]);
    expect(of([...b, ...c])).to.deep.equal([8, 8, 8, 8, 8, 8, 8, 8]);
    const roots = Object.values(clusters).filter((it) => it.merged_into === null && it.size > 0);
    expect(roots.map((it) => it.members.length).sort()).to.deep.equal([4, 8]);
    expect(roots.every((it) => it.members.length === it.size)).to.equal(true);
  });

  it("never turn an escrow into another kind of account", async () => {
    const log = new EventLog({ operator });
    const escrow = log.deposit(seller, wallet(2)) && log.events.find((it) => it.kind === "escrow.deposited");
    const contract = escrow?.kind === "escrow.deposited" ? escrow.escrow : seller;
    publish(log, { version: 2, hubs: [contract] });
    publish(log, { version: 3, hubs: [] });
    log.listing(contract, "text.translate");
    expect((await log.derive()).agents).to.not.have.property(contract);
  });

  it("do not change the windows and waiting times of items that already count or wait", async () => {
    const log = new EventLog({ operator });
    log.hire(seller, wallet(2), { amount: 5_000 });
    const late = log.transfer(wallet(3), seller, 7_000, { authorized: true });
    log.receipt(seller, wallet(4), { amount: 9_000, tx: log.hash() });
    publish(log, { version: 2, windowSeconds: 10 * DAY, reconcileSeconds: 10 });
    log.hire(seller, wallet(2), { amount: 6_000 });
    const counts = async () => {
      const { agents, store } = await log.tick().derive();
      const statuses = [...store.rows("receipt").values()].map((it) => it.status);
      return [agents[seller]?.last_30d_hire_count_raw, ...statuses];
    };
    log.after(11);
    expect(await counts()).to.deep.equal([2, "counted", "pending", "counted"]);
    log.receipt(seller, wallet(3), { amount: 7_000, tx: late });
    log.after(10 * DAY);
    expect(await counts()).to.deep.equal([1, "counted", "unmatched", "counted", "counted"]);
    log.after(20 * DAY);
    expect(await counts()).to.deep.equal([0, "counted", "unmatched", "counted", "counted"]);
  });
});

describe("private metrics", () => {
  it("are published as buckets only while a live listing asks for this; tier and cluster stay exact", async () => {
    const log = new EventLog();
    log.listing(seller, "text.translate", { private_metrics: true });
    for (let n = 0; n < 13; n++)
      log.hire(seller, wallet(20 + n), { passed: n !== 0, latency_ms: 300, amount: 2_000_000 });
    const { agents, digest } = await log.after(1).tick().derive();
    const { success_rate, last_30d_hire_count, last_24h_volume_usdc, avg_latency_ms_p50, distinct_buyers } =
      agents[seller] ?? {};
    expect({
      success_rate,
      last_30d_hire_count,
      last_24h_volume_usdc,
      avg_latency_ms_p50,
      distinct_buyers,
    }).to.deep.equal({
      success_rate: 0.9,
      last_30d_hire_count: 10,
      last_24h_volume_usdc: "10.00",
      avg_latency_ms_p50: 512,
      distinct_buyers: 10,
    });
    expect(digest).to.match(/^0x[0-9a-f]{64}$/);
    log.listing(seller, "text.translate", { private_metrics: false });
    expect((await log.derive()).agents[seller]?.last_30d_hire_count).to.equal(13);
  });
});
