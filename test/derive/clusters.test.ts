import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { saveAgents } from "tallystick-derive/agentRow";
import { type ApplyContext, openContext } from "tallystick-derive/applyContext";
import { elevatedUntil, raiseElevation } from "tallystick-derive/audits/elevations";
import { clusterOf, dropTrips, joinCluster, sharedClusterSize } from "tallystick-derive/clusters";
import { emptyRow } from "tallystick-derive/emptyRow";
import { allItems } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { base32 } from "tallystick-protocol/base32";
import { DAY, EventLog, HOUR, wallet } from "./eventLog.ts";
import { derivedState } from "./oracle/derivedState.ts";
import { oracle } from "./oracle/oracle.ts";
import { expectSame } from "./relevant/agreement.ts";

const funder = wallet(100);
const agents = [1, 2, 3, 4, 5].map(wallet);

/** Registers agents one after the other, by default too far apart to be a deploy batch. */
function register(log: EventLog, members: Address[], blocksApart = 256): void {
  for (const member of members) log.after(1, blocksApart).listing(member, "text.translate");
}

async function clustersOf(log: EventLog): Promise<string[][]> {
  const { clusters } = await log.derive();
  return Object.values(clusters)
    .filter((it) => it.merged_into === null)
    .map((it) => it.members);
}

describe("funding origin", () => {
  it("clusters an agent with three others that one wallet funded, whether they are funded or registered first", async () => {
    for (const registerFirst of [true, false]) {
      const log = new EventLog();
      if (registerFirst) register(log, agents.slice(0, 4));
      for (const agent of agents.slice(0, 4)) log.after(1).transfer(funder, agent, 1_000_000);
      if (!registerFirst) register(log, agents.slice(0, 4));
      const { agents: derived, clusters } = await log.derive();
      const [id = ""] = Object.keys(clusters);
      expect(id).to.match(/^clst_[0-9A-HJKMNP-TV-Z]{26}$/);
      for (const agent of agents.slice(0, 4)) {
        expect(derived[agent]?.cluster_id).to.equal(id);
        expect(derived[agent]?.cluster_size).to.equal(4);
        expect(derived[agent]?.signals_tripped).to.deep.equal(["funding_origin"]);
      }
    }
  });

  it("does not trip with only two others", async () => {
    const log = new EventLog();
    for (const agent of agents.slice(0, 3)) log.transfer(funder, agent, 1_000_000);
    register(log, agents.slice(0, 3));
    expect(await clustersOf(log)).to.deep.equal([]);
  });

  it("ignores a transfer if its sender sent, or its receiver received, at least hubTransfers transfers before it", async () => {
    const four = agents.slice(0, 4);
    for (const [before, size, hubTransfers] of [
      [0, 4, 5],
      [1, 4, 5],
      // The fourth funding is the funder's sixth transfer.
      [2, 0, 5],
      [9_996, 4, undefined],
      [9_997, 0, undefined],
    ] as const) {
      const log = new EventLog({ hubTransfers });
      for (let n = 0; n < before; n++) log.transfer(funder, wallet(50), 0);
      for (const agent of four) log.transfer(funder, agent, 1_000_000);
      register(log, four);
      expect((await clustersOf(log)).flat(), `sent ${before} before`).to.have.length(size);
    }
    for (const [before, size] of [
      [4, 4],
      [5, 0],
    ] as const) {
      const log = new EventLog({ hubTransfers: 5 });
      // A mint also counts as a transfer that its receiver got.
      for (let n = 0; n < before; n++)
        for (const agent of four) log.transfer(n === 0 ? ZERO_ADDRESS : wallet(50 + n), agent, 1);
      for (const agent of four) log.transfer(funder, agent, 1_000_000);
      register(log, four);
      expect((await clustersOf(log)).flat(), `received ${before} before`).to.have.length(size);
    }
  });

  it("does not join strangers that use the same exchange, also if nobody published it as a hub", async () => {
    const exchange = wallet(100);
    const strangers = Array.from({ length: 30 }, (_, n) => wallet(n + 1));
    const log = new EventLog();
    for (let n = 0; n < 10_000; n++) log.transfer(exchange, wallet(1_000 + (n % 50)), 1_000_000);
    for (const agent of strangers) log.transfer(exchange, agent, 1_000_000);
    for (const agent of strangers) log.after(1, 256).listing(agent, "text.translate");
    const { clusters } = await log.derive();
    expect(Object.values(clusters).filter((it) => it.kind === "ownership")).to.deep.equal([]);
  });

  it("still counts the hires of a seller that received ten thousand payments", async () => {
    const [seller, buyer] = [wallet(1), wallet(2)];
    const log = new EventLog();
    log.listing(seller, "text.translate");
    for (let n = 0; n < 10_001; n++) log.transfer(buyer, seller, 1);
    log.hire(seller, buyer, { amount: 250_000 });
    const { agents: derived } = await log.derive();
    expect(derived[seller]).to.include({ last_30d_hire_count: 1, distinct_buyers: 1 });
    expect(derived[buyer]).to.include({ hires_bought: 1 });
  });

  it("joins agents that are funded within 24 hours, inclusive", async () => {
    for (const [gap, size] of [
      [DAY, 4],
      [DAY + 1, 0],
    ] as const) {
      const log = new EventLog();
      for (const agent of agents.slice(0, 3)) log.transfer(funder, agent, 1_000_000);
      log.after(gap).transfer(funder, wallet(4), 1_000_000);
      register(log, agents.slice(0, 4));
      expect((await clustersOf(log)).flat(), `${gap} s`).to.have.length(size);
    }
  });

  it("follows money through two intermediaries, not three, and only in the order of the transfers", async () => {
    for (const [hops, size] of [
      [2, 4],
      [3, 0],
    ] as const) {
      const log = new EventLog();
      for (const agent of agents.slice(0, 4)) {
        let from = funder;
        for (let hop = 0; hop < hops; hop++) {
          const next = wallet(Number(BigInt(agent)) * 10 + 1000 + hop);
          log.after(1).transfer(from, next, 1_000_000);
          from = next;
        }
        log.after(1).transfer(from, agent, 1_000_000);
      }
      register(log, agents.slice(0, 4));
      expect((await clustersOf(log)).flat(), `${hops} intermediaries`).to.have.length(size);
    }

    const backwards = new EventLog();
    for (const agent of agents.slice(0, 4)) {
      const between = wallet(Number(BigInt(agent)) + 1000);
      backwards.transfer(between, agent, 1_000_000);
      backwards.after(1).transfer(funder, between, 1_000_000);
    }
    register(backwards, agents.slice(0, 4));
    expect(await clustersOf(backwards)).to.deep.equal([]);
  });

  it("does not follow money through a wallet that was an agent when it sent the money on", async () => {
    const log = new EventLog();
    const agentBetween = wallet(50);
    register(log, [agentBetween, ...agents.slice(0, 4)]);
    log.after(1).transfer(funder, agentBetween, 1_000_000);
    for (const agent of agents.slice(0, 2)) log.after(1).transfer(agentBetween, agent, 1_000_000);
    for (const agent of agents.slice(2, 4)) log.after(1).transfer(funder, agent, 1_000_000);
    expect(await clustersOf(log)).to.deep.equal([]);
  });

  it("ignores dust: less than a quarter of all that the receiver ever received, or less than minFundingAtomic", async () => {
    for (const [share, size] of [
      [1_000_000, 4],
      [999_999, 0],
    ] as const) {
      const log = new EventLog();
      for (const agent of agents.slice(0, 4)) {
        log.transfer(wallet(Number(BigInt(agent)) + 500), agent, 3_000_000);
        log.after(1).transfer(funder, agent, share);
      }
      register(log, agents.slice(0, 4));
      expect((await clustersOf(log)).flat(), `${share} of 4 USDC`).to.have.length(size);
    }
    for (const [amount, size] of [
      [100_000, 4],
      [99_999, 0],
    ] as const) {
      const log = new EventLog();
      for (const agent of agents.slice(0, 4)) log.transfer(funder, agent, amount);
      register(log, agents.slice(0, 4));
      expect((await clustersOf(log)).flat(), `${amount} atomic`).to.have.length(size);
    }
  });

  it("does not come from hubs or mints", async () => {
    for (const source of [funder, `0x${"0".repeat(40)}` as const]) {
      const log = new EventLog({ hubs: [funder] });
      for (const agent of agents) log.transfer(source, agent, 1_000_000);
      register(log, agents);
      expect(await clustersOf(log)).to.deep.equal([]);
    }
  });

  it("does not come from hire payments: a buyer of four sellers joins nobody", async () => {
    const log = new EventLog();
    register(log, agents.slice(0, 4));
    for (const agent of agents.slice(0, 4)) log.after(1).hire(agent, funder, { amount: 1_000_000 });
    log.after(2 * DAY).tick();
    expect(await clustersOf(log)).to.deep.equal([]);
  });

  it("does not come from hire payments to sellers that had no listing, if receipts claim these payments", async () => {
    const log = new EventLog();
    for (const agent of agents.slice(0, 4)) log.after(1, 300).hire(agent, funder, { amount: 1_000_000 });
    log.after(2 * DAY).tick();
    expect(await clustersOf(log)).to.deep.equal([]);
  });

  it("comes from a presumed hire payment that no receipt claimed, at the first tick more than 24 hours later", async () => {
    for (const [wait, size] of [
      [DAY, 0],
      [DAY + 1, 4],
    ] as const) {
      const log = new EventLog();
      register(log, agents.slice(0, 4));
      log.after(1);
      for (const agent of agents.slice(0, 4)) log.transfer(funder, agent, 1_000_000, { authorized: true });
      log.after(wait).tick();
      expect((await clustersOf(log)).flat(), `${wait} s`).to.have.length(size);
    }
  });

  it("includes the funder when it becomes an agent, together with every group that it funded", async () => {
    const log = new EventLog();
    for (const agent of [11, 12, 13, 14].map(wallet)) log.transfer(funder, agent, 1_000_000);
    register(log, [11, 12, 13, 14].map(wallet));
    log.after(5 * DAY);
    for (const agent of [21, 22, 23, 24].map(wallet)) log.transfer(funder, agent, 1_000_000);
    register(log, [21, 22, 23, 24].map(wallet));
    expect((await clustersOf(log)).map((it) => it.length)).to.deep.equal([4, 4]);
    register(log, [funder]);
    const { agents: derived, clusters } = await log.derive();
    expect(derived[funder]?.cluster_size).to.equal(9);
    const [first, second] = Object.entries(clusters).sort((a, b) => b[1].size - a[1].size);
    expect(second?.[1].merged_into, "the older id stays").to.equal(first?.[0]);
  });

  it("keeps each signal with the funder whose money tripped it, and keeps no signal of similar listings", async () => {
    const log = new EventLog();
    const four = agents.slice(0, 4);
    for (const agent of four) log.transfer(funder, agent, 1_000_000);
    for (const agent of four)
      log.after(1).listing(agent, "text.translate", { endpoint: "https://one.example" });
    const { store, clusters } = await log.derive();
    const [ownership, fingerprint] = ["ownership", "fingerprint"].map((kind) =>
      Object.keys(clusters).filter((id) => clusters[id]?.kind === kind),
    );
    expect([ownership?.length, fingerprint?.length]).to.deep.equal([1, 1]);
    const [cluster] = ownership ?? [];
    expect([...store.rows("trip").values()].map(({ members, ...it }) => it)).to.deep.equal([
      { id: "0", funder, signal: "funding_origin", cluster, dropped: false },
      { id: "1", funder, signal: "deploy_batch", cluster, dropped: false },
    ]);
    const lists = [...store.rows("list").keys()].filter((it) => it.startsWith("tripsIn/"));
    expect(lists).to.deep.equal([`tripsIn/${cluster}`]);
  });

  it("gives a cluster the id from the span that begins last when several spans trip the signal at once", async () => {
    const log = new EventLog({ operator: wallet(900) });
    log.record("params", wallet(900), { version: 2, fundingSpanSeconds: 35, deployBatchBlocks: 1 });
    for (const n of [1, 2, 5, 3, 4]) {
      log.transfer(funder, wallet(n), 1_000_000);
      log.after(10);
    }
    for (const n of [1, 2, 3, 4]) log.after(60).listing(wallet(n), `text.task${n}`);
    // Agent 5 was funded after agents 1 and 2, and before agents 3 and 4. Two spans have agent 5 and three others: 1, 2
    // and 3, or 2, 3 and 4. The id comes from the second span.
    log.after(60).listing(wallet(5), "text.task5");
    const event = log.events.at(-1);
    const place = event?.kind === "record" ? [event.block, event.log, event.seq] : [];
    const name = JSON.stringify(["ownership", ...place, [2, 3, 4, 5].map(wallet)]);
    const id = `clst_${base32(createHash("sha256").update(name).digest()).slice(0, 26)}`;
    const { clusters } = await log.derive();
    expect(Object.entries(clusters).map(([name, { size }]) => [name, size])).to.deep.equal([[id, 5]]);
  });

  it("looks at whole spans only if one began before the parameters were widened; the same parameters again do not widen them", async () => {
    const operator = wallet(900);
    const narrow = { operator, fundingSpanSeconds: 35, deployBatchBlocks: 1 };
    // As above. If whole spans are looked at, the id comes from all five members.
    for (const [when, others, count] of [
      ["before", 3, 4],
      ["between", 3, 5],
      ["after", 3, 5],
      ["after", 2, 4],
    ] as const) {
      const log = new EventLog({ operator });
      log.record("params", operator, { ...narrow, version: 2, clusterOthers: others + 1 });
      const widen = () => log.record("params", operator, { ...narrow, version: 3, clusterOthers: 3 });
      if (when === "before") widen();
      for (const n of [1, 2, 5, 3, 4]) {
        log.after(10).transfer(funder, wallet(n), 1_000_000);
        if (when === "between" && n === 2) widen();
      }
      for (const n of [1, 2, 3, 4]) log.after(60).listing(wallet(n), `text.task${n}`);
      if (when === "after") widen();
      log.after(60).listing(wallet(5), "text.task5");
      const event = log.events.at(-1);
      const place = event?.kind === "record" ? [event.block, event.log, event.seq] : [];
      const members = [5, 4, 3, 2, 1].slice(0, count).toSorted().map(wallet);
      const name = JSON.stringify(["ownership", ...place, members]);
      const id = `clst_${base32(createHash("sha256").update(name).digest()).slice(0, 26)}`;
      expect(Object.keys((await log.derive()).clusters), `${when}, ${others}`).to.deep.equal([id]);
    }
  });

  it("looks back from the end of a span to a funding in the second in which the parameters were widened", async () => {
    const operator = wallet(900);
    for (const [gap, size] of [
      [DAY, 6],
      [DAY + 1, 0],
    ] as const) {
      const log = new EventLog({ operator, clusterOthers: 5 });
      register(log, [...agents, wallet(6)]);
      for (const agent of agents) log.transfer(funder, agent, 1_000_000);
      log.record("params", operator, { operator, version: 2, clusterOthers: 2 });
      log.after(gap, 300).transfer(funder, wallet(6), 1_000_000);
      expect((await clustersOf(log)).flat(), `${gap} s`).to.have.length(size);
    }
  });

  it("remembers one member of each cluster of a funder that is no agent yet, and none of a batch", async () => {
    const log = new EventLog();
    const rememberedOf = async (it = funder) => allItems((await log.derive()).store, `trips/${it}`);
    register(log, agents.slice(0, 4));
    for (const agent of agents.slice(0, 4)) log.after(1).transfer(funder, agent, 1_000_000);
    expect(await rememberedOf()).to.deep.equal([wallet(4)]);
    register(log, [wallet(5)]);
    log.transfer(funder, wallet(5), 1_000_000);
    expect(await rememberedOf(), "the same cluster").to.deep.equal([wallet(4)]);
    const others = [11, 12, 13, 14].map(wallet);
    register(log, others, 1);
    for (const agent of others) log.after(2 * DAY).transfer(wallet(101), agent, 1_000_000);
    expect(await rememberedOf(wallet(101))).to.deep.equal([]);
  });

  it("gives a cluster the id from the presumed payment that is due first; of payments due in the same 300 seconds, the first one", async () => {
    const operator = wallet(900);
    for (const [reconcileSeconds, named] of [
      [HOUR, [4, 5, 6, 7]],
      [DAY, [1, 2, 3, 7]],
    ] as const) {
      const log = new EventLog({ operator });
      // The schedule has steps of 300 seconds. A step begins now, so with a wait of a day both payments are due in one step.
      log.after(DAY - (log.time % DAY));
      const [before, behind] = [wallet(101), wallet(102)];
      for (const n of [1, 2, 3, 4, 5, 6, 7]) log.after(0, 300).listing(wallet(n), `text.task${n}`);
      for (const n of [1, 2, 3]) log.transfer(before, wallet(n), 1_000_000);
      for (const n of [4, 5, 6]) log.transfer(behind, wallet(n), 1_000_000);
      log.transfer(before, wallet(7), 1_000_000, { authorized: true });
      log.after(60).record("params", operator, { operator, version: 2, reconcileSeconds });
      log.after(60).transfer(behind, wallet(7), 1_000_000, { authorized: true });
      log.after(2 * DAY).tick();
      const place = ["ownership", log.events.at(-1)?.block, null, null];
      const name = JSON.stringify([...place, named.map(wallet)]);
      const id = `clst_${base32(createHash("sha256").update(name).digest()).slice(0, 26)}`;
      const { agents, clusters } = await log.derive();
      expect(agents[wallet(7)]).to.include({ cluster_id: id, cluster_size: 7 });
      expect(clusters).to.have.all.keys(id);
    }
  });

  it("follows the 64 nearest of an agent's funders: the shortest paths, and of these the earliest", async () => {
    // Each agent has one funder of its own, which has 8, each of which has 8: 1 + 8 + 64. The 55th of the last 64 counts.
    const clustersWith = async (place: number) => {
      const log = new EventLog();
      const near = (agent: number, n: number) => wallet(10_000 + agent * 1_000 + n);
      /** Transfers of which each is a quarter of what the receiver got. */
      const fund = (to: Address, from: Address[]) => {
        let sum = 0;
        for (const it of from) {
          const value = Math.max(100_000, Math.ceil(sum / 3));
          log.transfer(it, to, value);
          sum += value;
        }
      };
      for (const agent of [1, 2, 3, 4]) {
        const middle = Array.from({ length: 8 }, (_, n) => near(agent, n));
        const far = (n: number) => (n === place ? funder : near(agent, 100 + n));
        for (const [n, it] of middle.entries())
          fund(
            it,
            Array.from({ length: 8 }, (_, m) => far(8 * n + m)),
          );
        fund(near(agent, 999), middle);
        log.transfer(near(agent, 999), wallet(agent), 100_000);
      }
      register(log.after(1), [1, 2, 3, 4].map(wallet));
      await expectSame(log);
      const { store, ...snapshot } = await log.after(1).tick().derive();
      expect(derivedState(snapshot, store)).to.deep.equal(oracle(log.events));
      const fundings = [...store.rows("orderIndex").values()].filter(({ id }) => id.startsWith("funded/"));
      const all = fundings.flatMap(({ value }) => value.split(","));
      expect(all).to.have.length(4 * 64);
      return (await clustersOf(log)).map((it) => it.length);
    };
    expect(await clustersWith(54)).to.deep.equal([4]);
    expect(await clustersWith(55)).to.deep.equal([]);
  });

  it("finds the same clusters as a check of every span of every funder", async () => {
    const transfer = fc.record({
      from: fc.integer({ min: 60, max: 62 }),
      to: fc.integer({ min: 1, max: 9 }),
      wait: fc.oneof(fc.integer({ min: 0, max: 4 * HOUR }), fc.constantFrom(0, DAY - 1, DAY, DAY + 1)),
    });
    const scenario = fc.record({
      transfers: fc.array(transfer, { minLength: 4, maxLength: 40 }),
      registered: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 9, maxLength: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ transfers, registered }) => {
        const log = new EventLog();
        const fundings: { from: number; to: number; time: number }[] = [];
        const joined = new Set<number>();
        transfers.forEach(({ from, to, wait }, n) => {
          registered.forEach((at, index) => {
            if (at !== n) return;
            joined.add(index + 1);
            register(log, [wallet(index + 1)]);
          });
          // Each transfer is larger than all earlier ones together, so each is a funding transfer.
          log.after(wait).transfer(wallet(from), wallet(to), 100_000n * 2n ** BigInt(n));
          fundings.push({ from, to, time: log.time });
        });
        const expected = everySpan(fundings.filter((it) => joined.has(it.to)));
        const found = (await clustersOf(log)).map((it) => it.map((address) => Number(address)).sort());
        expect(found.sort()).to.deep.equal(expected);
      }),
      { numRuns: 300 },
    );
  });
});

/** Clusters directly from the definition: for each funder and each start, all agents funded in the next 24 hours. */
function everySpan(fundings: { from: number; to: number; time: number }[]): number[][] {
  let groups: Set<number>[] = [];
  for (const start of fundings) {
    const span = new Set(
      fundings
        .filter((it) => it.from === start.from && it.time >= start.time && it.time - start.time <= DAY)
        .map((it) => it.to),
    );
    if (span.size < 4) continue;
    const touching = groups.filter((group) => [...group].some((it) => span.has(it)));
    groups = [
      ...groups.filter((group) => !touching.includes(group)),
      new Set([...touching, span].flatMap((it) => [...it])),
    ];
  }
  return groups.map((group) => [...group].sort()).sort();
}

describe("a hub's signals", () => {
  const operator = wallet(900);
  const publish = (log: EventLog, version: number, hubs: Address[]) =>
    log.after(60).record("params", operator, { operator, version, hubs });
  /** Each sum is larger than all earlier ones together, so each transfer is a funding transfer. */
  const fund = (log: EventLog, from: Address, members: Address[], apart = 1) => {
    for (const member of members)
      log.after(apart).transfer(from, member, 100_000n * 2n ** BigInt(log.events.length));
  };
  const wallets = (first: number, count = 4) => Array.from({ length: count }, (_, n) => wallet(first + n));
  const groupsOf = async (log: EventLog) =>
    (await clustersOf(log))
      .filter((it) => it.length > 0)
      .map((it) => it.toSorted())
      .toSorted();
  const hub = wallet(200);

  /** The hub joins an agent to three others, and is published. So the agent's other clusters are built again. */
  const joinAndPublish = (log: EventLog, agent: Address, version = 2) => {
    register(log, wallets(91, 3));
    fund(log.after(2 * DAY), hub, [...wallets(91, 3), agent]);
    publish(log, version, [hub]);
  };

  it("are dropped, and a funder that is an agent stays with the groups of its own signals, but not with its deploy batches", async () => {
    const [batch, ring] = [wallets(11), wallets(21)];
    const log = new EventLog({ operator });
    fund(log, funder, batch, 2 * DAY);
    register(log, batch, 1);
    fund(log.after(DAY, 300), funder, ring);
    register(log, [...ring, funder]);
    joinAndPublish(log, wallet(21));
    expect(await groupsOf(log)).to.deep.equal([batch, [...ring, funder]]);
  });

  it("stay dropped when the clusters of a later signal of the same funder are built again", async () => {
    const [early, late] = [wallets(11), wallets(21)];
    const log = new EventLog({ operator });
    register(log, [...early, ...late]);
    fund(log, funder, early);
    publish(log, 2, [funder]);
    publish(log, 3, []);
    fund(log.after(2 * DAY), funder, late);
    register(log, [funder]);
    joinAndPublish(log, wallet(21), 4);
    expect(await groupsOf(log)).to.deep.equal([[...late, funder]]);
  });

  it("leave the groups of a funder that is no agent apart", async () => {
    const [one, two] = [wallets(11), wallets(21)];
    const log = new EventLog({ operator });
    register(log, [...one, ...two]);
    fund(log, funder, one);
    fund(log.after(2 * DAY), funder, two);
    joinAndPublish(log, wallet(21));
    expect(await groupsOf(log)).to.deep.equal([one, two]);
  });

  it("leave clusters that other signals merged in the order in which these signals tripped", async () => {
    const [one, two] = [wallets(11), wallets(21)];
    const log = new EventLog({ operator });
    register(log, [...one, ...two]);
    fund(log, wallet(101), one);
    const [first = ""] = Object.keys((await log.derive()).clusters);
    fund(log, wallet(102), two);
    const second = Object.keys((await log.derive()).clusters).find((id) => id !== first) ?? "";
    fund(log, wallet(103), [wallet(11), wallet(12), wallet(21), wallet(22)]);
    joinAndPublish(log, wallet(24));
    const { clusters, store } = await log.derive();
    expect(clusters[first]).to.deep.include({ merged_into: null, size: 8, members: [...one, ...two] });
    expect(clusters[second]).to.deep.include({ merged_into: first });
    // A cluster has a list of its own of what was merged into it.
    const lists = [...store.rows("list").keys()].filter((it) => it.startsWith("merged/"));
    expect(lists).to.deep.equal([`merged/${first}`]);
  });

  it("leave the signals of a funder that was an agent as they came: the later ones join nobody earlier than before", async () => {
    const [one, two, three] = [wallets(11), wallets(21), wallets(31, 3)];
    const log = new EventLog({ operator });
    register(log, [funder, ...one, ...two, ...three]);
    fund(log, funder, one);
    const [first = ""] = Object.keys((await log.derive()).clusters);
    fund(log, wallet(102), two);
    const second = Object.keys((await log.derive()).clusters).find((id) => id !== first) ?? "";
    fund(log.after(2 * DAY), funder, [...three, wallet(21)]);
    joinAndPublish(log, wallet(11));
    const { clusters } = await log.derive();
    const members = [...one, ...two, ...three, funder];
    expect(clusters[first]).to.deep.include({ merged_into: null, size: 12, members });
    expect(clusters[second]).to.deep.include({ merged_into: first });
  });

  it("are dropped also where another hub's signals were dropped before", async () => {
    const log = new EventLog({ operator });
    const members = wallets(11, 7);
    register(log, members);
    fund(log, wallet(101), members.slice(0, 4));
    const [id = ""] = Object.keys((await log.derive()).clusters);
    fund(log, wallet(102), members.slice(3));
    expect((await log.derive()).clusters[id]?.size).to.equal(7);
    publish(log, 2, [wallet(102)]);
    expect((await log.derive()).clusters[id]).to.include({ size: 4, merged_into: null });
    publish(log, 3, [wallet(101), wallet(102)]);
    const { agents: derived, clusters } = await log.derive();
    expect(clusters[id]).to.include({ size: 0, merged_into: null });
    for (const it of members)
      expect(derived[it]).to.deep.include({ cluster_id: null, cluster_size: 1, signals_tripped: [] });
  });

  it("are dropped once: a wallet that is published as a hub again changes no cluster", async () => {
    const log = new EventLog({ operator });
    const members = wallets(11, 7);
    register(log, members);
    fund(log, funder, members.slice(0, 4));
    publish(log, 2, [funder]);
    publish(log, 3, []);
    fund(log, wallet(101), members.slice(3));
    log.tick().after(60);
    publish(log, 4, [funder]);
    log.tick();
    const { store, clusters } = await log.derive();
    const ids = Object.keys(clusters).filter((id) => clusters[id]?.size === 4);
    expect(ids.map((id) => store.get("cluster", id)?.touched)).to.deep.equal([0]);
  });

  it("leave out a funder that becomes an agent later, if only a batch of its agents is left", async () => {
    const log = new EventLog({ operator });
    const batch = wallets(11);
    fund(log, funder, batch, 2 * DAY);
    register(log, batch, 1);
    joinAndPublish(log.after(DAY, 300), wallet(11));
    register(log, [funder]);
    expect(await groupsOf(log)).to.deep.equal([batch]);
  });

  it("no longer make one buyer of agents, except those that still share a cluster of either kind", async () => {
    const log = new EventLog({ operator });
    const seller = wallet(50);
    const [alike, owned] = [wallets(11), wallets(21)];
    register(log, [seller, ...owned]);
    for (const it of alike) log.after(1, 300).listing(it, "code.review", { endpoint: "https://one.example" });
    fund(log, wallet(101), owned);
    const buyers = [...alike.slice(0, 2), ...owned.slice(0, 2)];
    for (const it of buyers) log.hire(seller, it, { amount: 1_000 });
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(2);
    fund(log.after(2 * DAY), hub, buyers);
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(1);
    publish(log, 2, [hub]);
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(2);
  });
});

describe("agents that a signal joins", () => {
  const at = (time = 1_000) => ({ kind: "tick", block: 9, time }) as const;
  const [one, two, three] = [[1, 2], [3], [4]].map((all) => all.map(wallet)) as [
    Address[],
    Address[],
    Address[],
  ];

  async function registered() {
    const log = new EventLog();
    register(log, [1, 2, 3, 4, 5].map(wallet));
    return (await log.derive()).store;
  }
  const join = (context: ApplyContext, members: Address[], by = funder) =>
    joinCluster(context, { members, signal: "deploy_batch", funder: by });

  it("change only the leaves of agents and clusters that are different afterwards", async () => {
    const store = await registered();
    const step = (members: Address[]) => {
      const context = openContext(store, at());
      join(context, members);
      saveAgents(context);
      const ids = [...context.touchedClusters].map((id) => [...store.rows("cluster").keys()].indexOf(id));
      return [ids, [...context.touchedAgents]];
    };
    expect(step(one)).to.deep.equal([[0], one]);
    expect(step(two)).to.deep.equal([[1], two]);
    expect(step(one), "nothing is new").to.deep.equal([[], []]);
    // One agent comes from a cluster of one, and one from no cluster.
    const [clusters, touched] = step([...one, ...two, ...three]);
    expect([clusters?.toSorted(), touched]).to.deep.equal([[0, 1], three]);
    const rows = [...store.rows("cluster").values()];
    expect(rows.map(({ size, mergedInto }) => [size, mergedInto])).to.deep.equal([
      [4, null],
      [1, rows[0]?.id],
    ]);
  });

  it("raise the cluster's chance of audits to the latest time of any of them, until the cluster splits", async () => {
    const store = await registered();
    const context = openContext(store, at());
    const raise = (n: number, until: number) => raiseElevation(context, wallet(n), "v1", until);
    const timeOf = (n: number) => {
      const id = clusterOf(context, wallet(n), "ownership")?.id ?? "";
      return elevatedUntil(context, id, "v1");
    };
    raise(1, 1_010);
    raise(2, 1_020);
    raise(3, 1_030);
    raise(4, 1_040);
    join(context, one);
    expect(timeOf(1)).to.equal(1_020);
    join(context, two);
    join(context, [wallet(1), wallet(3)]);
    expect(timeOf(1), "a merged cluster").to.equal(1_030);
    join(context, [wallet(1), wallet(4)], wallet(101));
    expect(timeOf(1)).to.equal(1_040);
    const before = clusterOf(context, wallet(1), "ownership")?.id ?? "";
    context.touchedClusters.clear();
    dropTrips(context, wallet(101));
    expect(timeOf(1)).to.equal(1_030);
    expect([...context.touchedClusters]).to.include(before);
    dropTrips(context, funder);
    expect([timeOf(1), elevatedUntil(context, before, "v1")]).to.deep.equal([0, 0]);
  });

  it("are dropped from a cluster that then has no members, and its leaf changes", async () => {
    const store = await registered();
    const context = openContext(store, at());
    join(context, one);
    const id = clusterOf(context, wallet(1), "ownership")?.id ?? "";
    context.touchedClusters.clear();
    expect(dropTrips(context, funder)).to.deep.equal({ left: [], members: new Set(one) });
    expect([...context.touchedClusters]).to.deep.equal([id]);
    expect(store.get("cluster", id)).to.include({ size: 0, parent: id, mergedInto: null });
    expect(clusterOf(context, wallet(1), "ownership")).to.equal(null);
  });
});

describe("the cluster of an address", () => {
  const at = { kind: "tick", block: 1, time: 1 } as const;
  const texts = {
    windowWeight: "0",
    ratedWeight: "0",
    successWeight: "0",
    escrowWeight: "0",
    refundedWeight: "0",
  };
  const AGENT = {
    ...emptyRow("agent"),
    ...texts,
    auditDisputedWeight: "0",
    dayVolume: "0",
    signalsTripped: "",
  };

  function storeWith(agentRows: { [address: string]: object }, parents: { [id: string]: string }, size = 4) {
    const store = new MemoryStore();
    for (const [id, row] of Object.entries(agentRows))
      store.insert("agent", { ...AGENT, id, claimStatus: "unclaimed", ...row });
    for (const [id, parent] of Object.entries(parents))
      store.insert("cluster", {
        ...{ id, parent, size, kind: "ownership", ordinal: 0, block: 1, time: 1, touched: null },
        mergedInto: parent === id ? null : parent,
      });
    return store;
  }

  it("is the root that its first cluster was merged into; after one search each row on the way names the root", () => {
    const store = storeWith(
      { a: { ownershipCluster: "one" } },
      { one: "two", two: "three", three: "four", four: "four" },
    );
    const writes: string[] = [];
    const { update } = store;
    store.update = (table, id, change) => {
      writes.push(id);
      update.call(store, table, id, change as never);
    };
    const context = openContext(store, at);
    expect(clusterOf(context, "a", "ownership")?.id).to.equal("four");
    expect(clusterOf(context, "a", "fingerprint")).to.equal(null);
    expect([...store.rows("cluster").values()].map(({ parent }) => parent)).to.deep.equal(
      Array(4).fill("four"),
    );
    expect(writes, "the last row of the way named the root already").to.deep.equal(["one", "two"]);
    expect(clusterOf(context, "a", "ownership")?.id).to.equal("four");
    expect(writes).to.have.length(2);
  });

  it("is shared with another address if both have one root; of two kinds, the larger counts", () => {
    const store = storeWith(
      {
        a: { ownershipCluster: "one", fingerprintCluster: "alike" },
        b: { ownershipCluster: "two", fingerprintCluster: "alike" },
        c: { ownershipCluster: "two" },
        d: { ownershipCluster: "apart" },
        e: {},
      },
      { one: "two", two: "two", apart: "apart" },
    );
    store.insert("cluster", {
      ...(store.get("cluster", "two") as Row<"cluster">),
      id: "alike",
      parent: "alike",
      size: 3,
    });
    const context = openContext(store, at);
    const sizes = ["b", "c", "d", "e", "nobody"].map((it) => sharedClusterSize(context, "a", it));
    expect(sizes).to.deep.equal([4, 4, 1, 1, 1]);
    expect([sharedClusterSize(context, "e", "e"), sharedClusterSize(context, "e", "nobody")]).to.deep.equal([
      1, 1,
    ]);
    store.update("cluster", "alike", { size: 9 });
    expect(["b", "c"].map((it) => sharedClusterSize(openContext(store, at), "a", it))).to.deep.equal([9, 4]);
  });
});

describe("deploy batch", () => {
  it("clusters four agents of one funder that are registered within 256 consecutive blocks, however far apart they were funded", async () => {
    for (const [gap, size] of [
      [255, 4],
      [256, 0],
    ] as const) {
      const log = new EventLog();
      for (const agent of agents.slice(0, 4)) log.after(2 * DAY).transfer(funder, agent, 1_000_000);
      register(log, agents.slice(0, 3), 1);
      // The last agent comes `gap` blocks after the first. Two of these blocks are over already.
      register(log, agents.slice(3, 4), gap - 2);
      expect((await clustersOf(log)).flat(), `${gap} blocks from first to last`).to.have.length(size);
      if (size === 4) {
        const { agents: derived } = await log.derive();
        expect(derived[wallet(1)]?.signals_tripped).to.deep.equal(["deploy_batch"]);
      }
    }
  });

  it("needs a common funder", async () => {
    const log = new EventLog();
    for (const agent of agents.slice(0, 4)) {
      log.after(2 * DAY).transfer(wallet(Number(BigInt(agent)) + 500), agent, 1_000_000);
    }
    register(log, agents.slice(0, 4), 1);
    expect(await clustersOf(log)).to.deep.equal([]);
  });
});

describe("dampening", () => {
  it("gives a hire inside a cluster the weight 1/size, fixed when it is counted", async () => {
    const log = new EventLog();
    for (const agent of agents) log.transfer(funder, agent, 1_000_000);
    register(log, agents);
    const [seller = funder, ...buyers] = agents;
    for (let n = 0; n < 20; n++) log.after(1).hire(seller, buyers[n % 4] ?? funder);
    const { agents: derived } = await log.derive();
    expect(derived[seller]?.last_30d_hire_count).to.equal(4);
    expect(derived[seller]?.last_30d_hire_count_raw).to.equal(20);
    expect(derived[seller]?.last_24h_volume_usdc).to.equal("2.00");
    expect(derived[seller]?.distinct_buyers, "a cluster is one buyer").to.equal(1);
  });

  it("keeps hires from outside, and hires that were counted before, at full weight", async () => {
    const log = new EventLog();
    register(log, agents.slice(0, 4));
    const [seller = funder, buyer = funder] = agents;
    log.hire(seller, buyer, { amount: 1_000 });
    log.hire(seller, wallet(77), { amount: 1_000 });
    for (const agent of agents.slice(0, 4)) log.transfer(funder, agent, 1_000_000);
    log.hire(seller, buyer, { amount: 1_000 });
    log.hire(seller, wallet(77), { amount: 1_000 });
    const { agents: derived } = await log.derive();
    expect(derived[seller]?.last_30d_hire_count).to.equal(3.25);
    expect(derived[seller]?.distinct_buyers).to.equal(2);
  });

  it("counts buyers as one from the moment when they become a cluster", async () => {
    const log = new EventLog();
    const seller = wallet(90);
    for (const buyer of agents.slice(0, 4)) log.hire(seller, buyer, { amount: 1_000 });
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(4);
    log.after(1);
    for (const buyer of agents.slice(0, 4)) log.transfer(funder, buyer, 1_000_000);
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(1);
    log.after(31 * DAY).tick();
    expect((await log.derive()).agents[seller]?.distinct_buyers).to.equal(0);
  });
});
