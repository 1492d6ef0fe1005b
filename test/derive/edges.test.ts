import { expect } from "chai";
import { PAGE } from "tallystick-derive/lists";
import { type TableName, tables } from "tallystick-derive/tables";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, START, wallet } from "./eventLog.ts";

const seller = wallet(1);
const buyer = wallet(2);
const payee = wallet(3);

const agentOf = async (log: EventLog, agent = seller) => (await log.derive()).agents[agent];

/** The seller's figures when a hire counts whose payment is `age` seconds old, and after each further wait. */
async function countedAfter(age: number, ...then: number[]) {
  const log = new EventLog({ reconcileSeconds: 40 * DAY });
  const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
  log.after(age).tick();
  log.receipt(seller, buyer, { tx });
  const seen = [await agentOf(log)];
  for (const seconds of then) {
    log.after(seconds).tick();
    seen.push(await agentOf(log));
  }
  return seen;
}

describe("boundary cases of the derivation", () => {
  it("an SLA whose figures are not numbers is an invalid record", async () => {
    for (const [target, breach_threshold] of [
      ["all", "0.9"],
      ["0.99", "none"],
      ["1e3", "NaN"],
    ]) {
      const log = new EventLog();
      const penalty = { type: "trust_score_reduction", amount: "0.1" };
      const promise = { metric: "uptime", measurement_window: "30 days", penalty };
      const guarantees = [{ ...promise, target, breach_threshold }] as RecordBody[];
      log.record("sla", seller, { agent_id: seller, version: "1", guarantees, issued_at: START });
      const { store } = await log.derive();
      const [row] = store.rows("record").values();
      expect(row?.status, row?.reason ?? "").to.equal("invalid");
    }
  });

  it("a hire that is exactly as old as the window when the hire counts never enters the window", async () => {
    const hires = async (age: number, ...then: number[]) =>
      (await countedAfter(age, ...then)).map((it) => it?.last_30d_hire_count_raw ?? 0);
    expect(await hires(30 * DAY, 1, DAY)).to.deep.equal([0, 0, 0]);
    expect(await hires(30 * DAY + 1, 1)).to.deep.equal([0, 0]);
    expect(await hires(30 * DAY - 2, 1, 1)).to.deep.equal([1, 1, 0]);
  });

  it("a price that is exactly a day old when its hire counts never enters the volume of 24 hours", async () => {
    const volumes = async (age: number, ...then: number[]) =>
      (await countedAfter(age, ...then)).map((it) => it?.last_24h_volume_usdc);
    expect(await volumes(DAY, 1, DAY)).to.deep.equal(["0.00", "0.00", "0.00"]);
    expect(await volumes(DAY - 2, 1, 1)).to.deep.equal(["0.50", "0.50", "0.00"]);
  });

  it("a rating that is exactly as old as the window when its hire counts never enters the average", async () => {
    const stars = async (age: number, ...then: number[]) => {
      const log = new EventLog({ reconcileSeconds: 40 * DAY });
      const tx = log.hash();
      const receipt = log.receipt(seller, buyer, { tx });
      log.record("rating", buyer, { receipt, side: "buyer", stars: 4 });
      const rated = log.time;
      log.after(rated + age - log.time).tick();
      log.transfer(buyer, seller, 500_000, { authorized: true, tx });
      const seen = [(await agentOf(log))?.avg_stars];
      for (const seconds of then) {
        log.after(seconds).tick();
        seen.push((await agentOf(log))?.avg_stars);
      }
      return seen;
    };
    expect(await stars(30 * DAY, 1, DAY)).to.deep.equal([null, null, null]);
    expect(await stars(30 * DAY - 2, 1, 1)).to.deep.equal([4, 4, null]);
  });

  it("a rating's day is the UTC day of its block", async () => {
    expect(START % DAY, "the log begins at midnight").to.equal(0);
    const averages = async (seconds: number) => {
      const log = new EventLog();
      const [one, two] = [log.hire(seller, buyer), log.hire(seller, buyer)];
      log.after(12 * 3_600);
      log.record("rating", buyer, { receipt: one, side: "buyer", stars: 1 });
      log.after(seconds);
      log.record("rating", buyer, { receipt: two, side: "buyer", stars: 5 });
      return (await agentOf(log))?.avg_stars;
    };
    expect(await averages(12 * 3_600 - 1), "the same day").to.equal(3);
    const q = 0.904837418036;
    expect(await averages(12 * 3_600), "the next day").to.equal(Number(((q + 5) / (q + 1)).toFixed(9)));
  });

  it("ratings weigh by their own days, in whatever order their hires count", async () => {
    const log = new EventLog({ reconcileSeconds: 20 * DAY });
    const late = log.hash();
    const first = log.receipt(seller, buyer, { tx: late });
    log.record("rating", buyer, { receipt: first, side: "buyer", stars: 1 });
    log.after(3 * DAY);
    log.record("rating", buyer, { receipt: log.hire(seller, buyer), side: "buyer", stars: 5 });
    log.after(2 * DAY);
    log.transfer(buyer, seller, 500_000, { authorized: true, tx: late });
    log.tick();
    const q = 0.904837418036 ** 3;
    const agent = await agentOf(log);
    expect(agent?.avg_stars).to.equal(Number(((q + 5) / (q + 1)).toFixed(9)));
  });

  it("telemetry without a latency does not replace the latency that the seller gave", async () => {
    const log = new EventLog();
    const [before, after] = [log.hire(seller, buyer, { latency_ms: 700 }), log.hash()];
    log.record("telemetry", buyer, { receipt: before, verification: { all_passed: true } });
    expect((await agentOf(log))?.avg_latency_ms, "telemetry after the hire counted").to.equal(700);
    const pending = log.receipt(seller, buyer, { tx: after, latency_ms: 900 });
    log.record("telemetry", buyer, { receipt: pending });
    log.transfer(buyer, seller, 500_000, { authorized: true, tx: after });
    expect((await agentOf(log))?.avg_latency_ms, "telemetry before the hire counted").to.equal(800);
  });

  it("a payee's consent counts only for later payments, also within a block", async () => {
    const counts = async (order: ("consent" | "payment")[]) => {
      const log = new EventLog();
      const tx = log.hash();
      for (const it of order) {
        if (it === "payment") log.transfer(buyer, payee, 500_000, { authorized: true, tx });
        else log.listing(seller, "code.review", { payee, payee_signature: "0x02" });
      }
      log.receipt(seller, buyer, { tx, payee });
      log.tick();
      return (await agentOf(log))?.last_30d_hire_count_raw ?? 0;
    };
    expect(await counts(["consent", "payment"])).to.equal(1);
    expect(await counts(["payment", "consent"])).to.equal(0);
  });

  it("an escrow has one receipt: the second is a duplicate and changes nothing", async () => {
    const log = new EventLog();
    const id = log.deposit(seller, buyer);
    const one = log.receipt(seller, buyer, { escrow_id: id, capability: "code.review", latency_ms: 10 });
    const two = log.receipt(seller, buyer, { escrow_id: id, capability: "chart.generate", latency_ms: 90 });
    log.released(id);
    const three = log.receipt(seller, buyer, { escrow_id: id, capability: "data.extract", latency_ms: 95 });
    log.tick();
    const { store, agents } = await log.derive();
    const statuses = [one, two, three].map((hash) => store.rows("receipt").get(hash)?.status);
    expect(statuses).to.deep.equal(["counted", "duplicate", "duplicate"]);
    expect(agents[seller]).to.deep.include({ last_30d_hire_count_raw: 1, avg_latency_ms: 10 });
    expect(agents[seller]?.avg_cost_per_capability).to.have.all.keys("code.review");
  });

  it("an escrow can get its own receipt after another receipt proved to be a duplicate", async () => {
    const log = new EventLog();
    const id = log.deposit(seller, buyer);
    const same = { hire_id: "same" };
    const first = log.receipt(seller, buyer, { escrow_id: id, capability: "code.review", ...same });
    const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
    const direct = log.receipt(seller, buyer, { tx, ...same });
    log.released(id);
    const own = log.receipt(seller, buyer, { escrow_id: id, capability: "chart.generate" });
    log.tick();
    const { store, agents } = await log.derive();
    const statuses = [first, direct, own].map((hash) => store.rows("receipt").get(hash)?.status);
    expect(statuses).to.deep.equal(["duplicate", "counted", "counted"]);
    expect(agents[seller]?.avg_cost_per_capability).to.have.all.keys("chart.generate", "text.translate");
  });

  it("a private agent's dispute_rate is its bucket", async () => {
    const arbiter = wallet(15);
    const log = new EventLog({ auditArbiters: [arbiter] });
    log.listing(seller, "code.review", { private_metrics: true });
    for (let n = 0; n < 2; n++) log.hire(seller, buyer);
    const id = log.deposit(seller, buyer, { arbiter });
    log.receipt(seller, buyer, { escrow_id: id });
    log.refunded(id, arbiter);
    log.tick();
    expect((await agentOf(log))?.dispute_rate).to.equal(0.3);
  });

  it("in the fingerprint the same host with another port is another host", async () => {
    const clustered = async (port: (n: number) => string) => {
      const log = new EventLog();
      for (let n = 1; n <= 4; n++) {
        log.listing(wallet(n), "code.review", { endpoint: `https://shared.example${port(n)}/hire` });
      }
      log.tick();
      return (await agentOf(log))?.cluster_size;
    };
    expect(await clustered(() => ":8443")).to.equal(4);
    expect(await clustered((n) => `:${8440 + n}`)).to.equal(1);
    expect(await clustered((n) => (n % 2 ? ":443" : "")), "the default port of https").to.equal(4);
  });

  it("a smaller clusterOthers makes clusters only from the next event that trips a signal", async () => {
    const operator = wallet(14);
    const log = new EventLog({ operator });
    const list = (n: number, host: string) =>
      log.listing(wallet(n), "code.review", { endpoint: `https://${host}.example/hire` });
    for (const n of [1, 2, 3]) list(n, "early");
    for (const n of [4, 5]) list(n, "late");
    log.record("params", operator, { version: 2, operator, clusterOthers: 2 });
    log.tick();
    expect((await agentOf(log))?.cluster_size, "earlier events are not checked again").to.equal(1);
    list(6, "late");
    log.tick();
    expect((await agentOf(log))?.cluster_size).to.equal(1);
    for (const n of [4, 5, 6]) expect((await agentOf(log, wallet(n)))?.cluster_size).to.equal(3);
  });

  it("when clusters merge, the cluster that tripped first keeps its id, and the other clusters name this id", async () => {
    const operator = wallet(14);
    const log = new EventLog({ operator });
    const ring = (funder: number, members: number[]) => {
      for (const n of members) log.after(1).transfer(wallet(funder), wallet(n), 1_000_000);
    };
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) log.after(1, 300).listing(wallet(n), "code.review");
    // The later cluster is larger, and its funder has the lower address.
    ring(101, [6, 7, 8, 9]);
    const [oldest = ""] = Object.keys((await log.derive()).clusters);
    log.after(2 * DAY);
    ring(100, [1, 2, 3, 4, 5]);
    const second = Object.keys((await log.derive()).clusters).find((it) => it !== oldest) ?? "";
    log.after(2 * DAY);
    ring(99, [1, 2, 6, 7]);
    const { agents, clusters } = await log.derive();
    for (const n of [1, 5, 6, 9])
      expect(agents[wallet(n)]).to.deep.include({ cluster_id: oldest, cluster_size: 9 });
    expect(clusters[oldest]).to.deep.include({ merged_into: null, size: 9 });
    expect(clusters[second]).to.deep.include({ merged_into: oldest });
    // When the wallet that joined the clusters is published as a hub, they are two clusters again, with their earlier ids.
    log.record("params", operator, { version: 2, operator, hubs: [wallet(99)] });
    log.tick();
    const apart = (await log.derive()).clusters;
    expect(apart[oldest]).to.deep.include({ merged_into: null, size: 4 });
    expect(apart[second]).to.deep.include({ merged_into: null, size: 5 });
  });

  it("a funder that is published as a hub loses its own signals, and signals of similar listings stay", async () => {
    const operator = wallet(14);
    const log = new EventLog({ operator });
    const ring = [1, 2, 3, 4];
    for (const n of ring)
      log.after(1, 300).listing(wallet(n), "code.review", { endpoint: "https://one.example" });
    for (const n of ring) log.after(1).transfer(wallet(100), wallet(n), 1_000_000);
    const before = (await log.derive()).agents[wallet(1)];
    expect(before?.signals_tripped).to.deep.equal(["funding_origin", "listing_fingerprint"]);
    log.record("params", operator, { version: 2, operator, hubs: [wallet(100)] });
    log.tick();
    const { agents, clusters } = await log.derive();
    for (const n of ring) {
      const { signals_tripped, cluster_id, cluster_size } = agents[wallet(n)] ?? {};
      expect(signals_tripped).to.deep.equal(["listing_fingerprint"]);
      expect(cluster_size).to.equal(4);
      expect(clusters[cluster_id ?? ""]?.kind).to.equal("fingerprint");
    }
  });

  it("a hire with a hub does not count: it makes nobody an agent and uses up no transfer", async () => {
    const [operator, seller, buyer] = [wallet(9), wallet(1), wallet(2)];
    for (const hub of [seller, buyer]) {
      const log = new EventLog({ operator });
      const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
      log.record("params", operator, { version: 2, operator, hubs: [hub] });
      log.receipt(seller, buyer, { tx });
      const { agents, store } = await log.derive();
      expect(agents).to.deep.equal({});
      expect([...store.rows("receipt").values()].map((it) => it.status)).to.deep.equal(["unmatched"]);
      log.record("params", operator, { version: 3, operator });
      log.receipt(seller, buyer, { tx });
      expect((await log.derive()).agents[seller]?.last_30d_hire_count).to.equal(1);
    }
  });

  it("no hire of an agent counts while the agent is published as a hub", async () => {
    const [operator, seller, buyer] = [wallet(9), wallet(1), wallet(2)];
    for (const hub of [seller, buyer]) {
      const log = new EventLog({ operator });
      log.hire(seller, buyer);
      const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
      const escrowId = log.deposit(seller, buyer);
      log.delivered(escrowId);
      log.record("params", operator, { version: 2, operator, hubs: [hub] });
      log.receipt(seller, buyer, { tx });
      log.released(escrowId);
      const hires = async () => {
        const { agents } = await log.derive();
        return [agents[seller]?.last_30d_hire_count, agents[buyer]?.hires_bought];
      };
      expect(await hires()).to.deep.equal([1, 1]);
      log.record("params", operator, { version: 3, operator });
      log.receipt(seller, buyer, { tx });
      log.receipt(seller, buyer, { escrow_id: escrowId });
      expect(await hires()).to.deep.equal([3, 3]);
    }
  });

  it("no text that a stranger signs makes a key that a database refuses, or a list with more items than its length says", async () => {
    const log = new EventLog({ audit: { operators: { [wallet(9)]: { pool: wallet(8) } } } });
    const capability = `text.${"a".repeat(123)}`;
    const modes = [
      "direct",
      ..."z\u6f22".split("").map((it) => "custom_escrow:https://z.example/".padEnd(2_048, it)),
    ];
    const han = String.fromCharCode(
      ...Array.from({ length: 1_900 }, (_, n) => 0x4e00 + ((n * 7_919) % 20_000)),
    );
    const hosts = [`${"z".repeat(245)}.example`, `${"z".repeat(1_900)}.example`, `${han}.example`];
    for (const [n, mode] of modes.entries())
      for (const [m, host] of hosts.entries()) {
        const seller = wallet(10 + 4 * n + m);
        log.listing(seller, capability, {
          endpoint: `https://${host}/`,
          payment_mode: mode,
          verification_version: "v1\nv2",
          audit: { operator: wallet(9) },
        });
        log.hire(seller, wallet(2), { capability, hire_id: "\u{1f600}\n".repeat(42) });
      }
    const { store } = await log.tick().derive();
    expect(store.rows("listing").size).to.be.above(0);
    // Postgres allows 2,704 bytes for a key of an index, and needs some of these bytes. Some indexes also contain an address.
    for (const table of Object.keys(tables) as TableName[])
      for (const id of store.rows(table).keys())
        expect(Buffer.byteLength(id), `${table} ${id}`).to.be.below(2_600);
    for (const { id, length, tail } of store.rows("list").values())
      expect(length % PAGE === 0 ? tail : tail.split("\n").length, id).to.equal(length % PAGE || "");
  });

  it("an authorized payment to a listed seller is presumed a hire payment, also after a hundred equal payments", async () => {
    const log = new EventLog({ fundingShare: { numerator: 0, denominator: 1 } });
    const four = [1, 2, 3, 4].map(wallet);
    for (const agent of four) log.after(1, 300).listing(agent, "text.translate");
    for (const agent of four) {
      const tx = log.hash();
      for (let n = 0; n < 101; n++) log.transfer(wallet(50), agent, 100_000, { authorized: true, tx });
    }
    const sizes = async () =>
      Object.values((await log.derive()).clusters).flatMap((it) =>
        it.kind === "ownership" ? [it.size] : [],
      );
    log.after(60).tick();
    expect(await sizes()).to.deep.equal([]);
    log.after(DAY + 1).tick();
    expect(await sizes()).to.deep.equal([4]);
  });
});
