import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
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
