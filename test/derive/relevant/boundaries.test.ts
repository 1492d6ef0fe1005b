import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import { snapshotOf } from "tallystick-derive/snapshot";
import type { Address } from "tallystick-protocol/address";
import { DAY, EventLog, wallet } from "../eventLog.ts";
import { derive, expectSame, relevant } from "./agreement.ts";

const operator = wallet(9);
const funder = wallet(100);
const four = [1, 2, 3, 4].map(wallet);

/**
 * Compares both forms of the log. Returns the size of the largest ownership cluster, and the lines of the relevant log.
 */
async function outcomeOf(log: EventLog): Promise<{ clustered: number; lines: DeriveEvent[] }> {
  log.after(1).tick();
  await expectSame(log);
  const lines = await relevant(log);
  const { clusters } = snapshotOf(await derive(lines));
  const sizes = Object.values(clusters).map((it) => (it.kind === "ownership" ? it.size : 0));
  return { clustered: Math.max(0, ...sizes), lines };
}

/** Registers agents far enough apart that they are no batch. */
function register(log: EventLog, agents: Address[]): void {
  for (const agent of agents) log.after(1, 256).listing(agent, "text.translate");
}

function counts(lines: DeriveEvent[], side: "in" | "out") {
  return lines.filter((it) => it.kind === "count" && it.side === side);
}

describe("a relevant log, at the boundaries", () => {
  it("has the number of transfers that left a sender, if hubTransfers − 1, hubTransfers or one more came before the last step", async () => {
    for (const [before, size, told] of [
      [4, 4, 0],
      [5, 0, 1],
      [6, 0, 1],
    ] as const) {
      for (const late of [true, false]) {
        const log = new EventLog({ hubTransfers: 5 });
        for (let n = 0; n < before - 3; n++) log.transfer(funder, wallet(50 + n), 0);
        if (!late) register(log, four);
        for (const agent of four) log.transfer(funder, agent, 1_000_000);
        if (late) register(log, four);
        const { clustered, lines } = await outcomeOf(log);
        expect(clustered, `${before} before the last`).to.equal(size);
        expect(counts(lines, "out")).to.have.length(told);
        if (told === 0) continue;
        const fifth = log.events.filter(
          (it) => it.kind === "transfer" && it.from === funder,
        )[4] as DeriveEvent;
        expect(counts(lines, "out")[0]).to.deep.equal({
          block: fifth.block,
          time: fifth.time,
          log: "log" in fifth ? fifth.log : null,
          kind: "count",
          wallet: funder,
          side: "out",
          transfers: 5,
        });
      }
    }
  });

  it("has the number of transfers that reached a receiver, if hubTransfers − 1, hubTransfers or one more came before the step", async () => {
    for (const [before, size, told] of [
      [4, 4, 4],
      [5, 0, 4],
      [6, 0, 4],
    ] as const) {
      const log = new EventLog({ hubTransfers: 5 });
      for (const agent of four) for (let n = 0; n < before; n++) log.transfer(wallet(50 + n), agent, 1);
      for (const agent of four) log.transfer(funder, agent, 1_000_000);
      register(log, four);
      const { clustered, lines } = await outcomeOf(log);
      expect(clustered, `${before} before the step`).to.equal(size);
      expect(counts(lines, "in"), "given up to hubTransfers").to.have.length(told);
      expect(lines.filter((it) => it.kind === "history")).to.have.length(4 * 5);
    }
  });

  it("has further transfers to a wallet when hubTransfers is raised", async () => {
    for (const [share, size] of [
      [1_000_000, 4],
      [999_999, 0],
    ] as const) {
      const log = new EventLog({ operator, hubTransfers: 5 });
      for (const agent of four) {
        for (let n = 0; n < 6; n++) log.transfer(wallet(50), agent, 400_000);
        log.transfer(wallet(51), agent, 500_000);
      }
      register(log, four);
      for (const agent of four) log.transfer(wallet(52), agent, 100_000);
      log.record("params", operator, { version: 2, operator, hubTransfers: 9 });
      for (const agent of four) log.transfer(funder, agent, share);
      const { clustered, lines } = await outcomeOf(log);
      expect(clustered, `a quarter of 4,000,000 is ${share}`).to.equal(size);
      expect(lines.filter((it) => it.kind === "history")).to.have.length(4 * 7);
    }
  });

  it("has the sum that reached a wallet before its registration, for a funding of a quarter of that sum and of one unit less", async () => {
    for (const [value, size] of [
      [1_000_000, 4],
      [999_999, 0],
    ] as const) {
      for (const registered of ["before the leg", "after the leg"]) {
        const log = new EventLog();
        for (const [of, agent] of four.entries())
          for (let n = 0; n < 3; n++) log.transfer(wallet(50 + 10 * of + n), agent, 1_000_000);
        if (registered === "before the leg") register(log, four);
        log.after(60);
        for (const agent of four) log.transfer(funder, agent, value);
        if (registered === "after the leg") register(log, four);
        expect((await outcomeOf(log)).clustered, `${value}, registered ${registered}`).to.equal(size);
      }
    }
  });

  it("has three transfers of a funding path, the first from before everybody's registration, and no fourth one", async () => {
    for (const [steps, size] of [
      [3, 4],
      [4, 0],
    ] as const) {
      const log = new EventLog();
      const via = (step: number, agent: number) => wallet(200 + 10 * step + agent);
      for (const [n] of four.entries()) log.transfer(funder, via(1, n), 5_000_000);
      // Until here no wallet is an agent.
      log.after(DAY, 10_000);
      register(log, four);
      for (let step = 2; step < steps; step++) {
        for (const [n] of four.entries()) log.transfer(via(step - 1, n), via(step, n), 5_000_000);
      }
      for (const [n, agent] of four.entries()) log.transfer(via(steps - 1, n), agent, 5_000_000);
      const { clustered, lines } = await outcomeOf(log);
      expect(clustered, `${steps} steps`).to.equal(size);
      expect(
        lines.filter((it) => it.kind === "transfer"),
        "only what reaches the agents",
      ).to.have.length(4);
      expect(lines.filter((it) => it.kind === "history")).to.have.length(8);
    }
  });

  it("does not follow money beyond a sender of hubTransfers transfers, or beyond a sender that was an agent at that time", async () => {
    const log = new EventLog({ hubTransfers: 5 });
    const [exchange, passer] = [wallet(60), wallet(61)];
    for (let n = 0; n < 9; n++) log.transfer(wallet(300 + n), exchange, 1_000_000);
    for (let n = 0; n < 9; n++) log.transfer(exchange, wallet(400 + n), 1);
    log.transfer(wallet(70), passer, 1_000_000);
    register(log, [passer]);
    log.transfer(exchange, wallet(1), 1_000_000);
    log.transfer(passer, wallet(1), 1_000_000);
    register(log, [wallet(1)]);
    const { lines } = await outcomeOf(log);
    const reached = lines.flatMap((it) => (it.kind === "history" ? [it.to] : []));
    expect(reached.filter((it) => it === exchange)).to.have.length(0);
    expect(
      reached.filter((it) => it === passer),
      "its own funding, when it was registered",
    ).to.have.length(1);
  });

  it("has the payment in the receipt's transaction, also if it was long before the listing", async () => {
    const [seller, buyer] = [wallet(1), wallet(2)];
    for (const [authorized, signed, counted] of [
      [true, false, 1],
      [false, true, 1],
      [false, false, 0],
    ] as const) {
      // Of the 9 transfers to the seller the log has only the first three. The payment is the last.
      const log = new EventLog({ hubTransfers: 3 });
      for (let n = 0; n < 8; n++) log.transfer(wallet(50), seller, 5);
      const tx = log.transfer(buyer, seller, 500_000, { authorized });
      const { block } = log;
      log.after(29 * DAY, 1_000_000).listing(seller, "text.translate");
      log.receipt(seller, buyer, { tx, ...(signed ? { buyer_signature: "0x02" } : {}) });
      const { lines } = await outcomeOf(log);
      const { agents } = snapshotOf(await derive(lines));
      expect(agents[seller]?.last_30d_hire_count).to.equal(counted);
      const payments = lines.filter((it) => it.kind === "history" && it.authorized !== undefined);
      expect(payments.map((it) => [it.block, "authorized" in it && it.authorized])).to.deep.equal([
        [block, authorized],
      ]);
    }
  });

  it("has the first hundred of equal transfers in one transaction, once", async () => {
    const [seller, buyer] = [wallet(1), wallet(2)];
    const log = new EventLog();
    const tx = log.hash();
    for (let n = 0; n < 101; n++) log.transfer(buyer, seller, 2_000, { authorized: true, tx });
    log.listing(seller, "text.translate");
    for (let n = 0; n < 101; n++) log.receipt(seller, buyer, { tx, amount: 2_000 });
    const { lines } = await outcomeOf(log);
    const { agents } = snapshotOf(await derive(lines));
    expect(agents[seller]?.last_30d_hire_count_raw).to.equal(100);
    expect(lines.filter((it) => it.kind === "history" && it.authorized === true)).to.have.length(100);
  });

  it("applies to late lines the hubs and parameters of the lines' own position", async () => {
    for (const [published, size] of [
      ["before the legs", 0],
      ["after the legs", 0],
      ["before and taken back after", 0],
      ["never", 4],
    ] as const) {
      const log = new EventLog({ operator });
      const publish = (version: number, hubs: Address[]) =>
        log.record("params", operator, { version, operator, hubs });
      if (published.startsWith("before")) publish(2, [funder]);
      for (const agent of four) log.transfer(funder, agent, 1_000_000);
      if (published.startsWith("after")) publish(2, [funder]);
      if (published.endsWith("after")) publish(3, []);
      register(log, four);
      expect((await outcomeOf(log)).clustered, `published ${published}`).to.equal(size);
    }
    for (const [first, second, size] of [
      ["1000000", "2000000", 4],
      ["2000000", "1000000", 0],
    ] as const) {
      const log = new EventLog({ operator, minFundingAtomic: first });
      for (const agent of four) log.transfer(funder, agent, 1_000_000);
      log.record("params", operator, { version: 2, operator, minFundingAtomic: second });
      register(log, four);
      expect((await outcomeOf(log)).clustered, `${first}, then ${second}`).to.equal(size);
    }
  });

  it("gives `authorized` only where a rule needs it", async () => {
    const [seller, buyer, other] = [wallet(1), wallet(2), wallet(3)];
    const log = new EventLog();
    log.listing(seller, "text.translate");
    log.listing(other, "text.translate");
    log.listing(other, "text.translate", { retired: true });
    log.transfer(buyer, seller, 500_000, { authorized: true });
    log.transfer(buyer, other, 500_000, { authorized: true });
    const tx = log.hash();
    log.receipt(other, buyer, { tx });
    log.transfer(buyer, other, 500_000, { authorized: true, tx });
    const { lines } = await outcomeOf(log);
    const told = lines.flatMap((it) => (it.kind === "transfer" ? [[it.to, it.authorized]] : []));
    expect(told).to.deep.equal([
      [seller, true],
      [other, false],
      [other, true],
    ]);
  });

  it("gives the same digest with repeated lines about the past, and with transfers that concern nobody", async () => {
    const log = new EventLog({ operator, hubTransfers: 8 });
    for (const agent of four) log.transfer(wallet(50), agent, 1_000_000);
    for (const agent of four) log.transfer(funder, agent, 1_000_000);
    register(log, four);
    log.hire(wallet(1), wallet(5));
    log.after(1).tick();
    for (const agent of four) log.transfer(funder, agent, 2_000_000);
    log.after(1).tick();
    const lines = await relevant(log);
    const past = lines.filter((it) => it.kind === "history" || it.kind === "count");
    expect(past).to.not.have.length(0);
    const again = lines.flatMap((it, n) => {
      const isNext = lines[n - 1] !== undefined && it.kind !== "history" && it.kind !== "count";
      const before = past.filter((one) => isNext && one.block < it.block);
      return [...before, it];
    });
    expect((await derive(again)).rows("digest")).to.deep.equal((await derive(lines)).rows("digest"));
    const all = log.events.filter(
      (it) =>
        it.kind === "transfer" &&
        !lines.some(
          (one) => "log" in one && one.block === it.block && one.log === it.log && one.kind === "transfer",
        ),
    );
    expect(all).to.not.have.length(0);
    const mixed = [...lines.filter((it) => it.kind !== "params"), ...all];
    const logOf = (it: DeriveEvent) => (it.kind === "tick" ? Number.POSITIVE_INFINITY : it.log);
    const place = (it: DeriveEvent) => {
      const isPast = it.kind === "history" || it.kind === "count";
      const next = isPast
        ? lines.slice(lines.indexOf(it)).find((one) => one.kind !== "history" && one.kind !== "count")
        : it;
      return next as DeriveEvent;
    };
    const sorted = mixed
      .map((it, n) => ({ it, n, at: place(it) }))
      .sort((a, b) => a.at.block - b.at.block || logOf(a.at) - logOf(b.at) || a.n - b.n)
      .map(({ it }) => it);
    const withNobodys = await derive([lines[0] as DeriveEvent, ...sorted]);
    expect(withNobodys.rows("digest")).to.deep.equal((await derive(lines)).rows("digest"));
  });
});
