import { expect } from "chai";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import { DAY, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import {
  AGENT,
  attest,
  BUYER,
  close,
  endorse,
  goTo,
  HOST,
  PROBERS,
  reasonsOf,
  report,
  sellersOf,
  slots,
  stewardLog,
  stewardOf,
  testRun,
  UP,
} from "./stewardScene.ts";

/** The cost of attacks: each attack of docs/steward.md as a log, with the numbers of that page. */
describe("what an attack on the trust score costs", () => {
  const [PROBER = wallet(30), SECOND = wallet(31), THIRD = wallet(32)] = PROBERS;
  const sybils = (count: number) => Array.from({ length: count }, (_, n) => wallet(1_000 + n));

  /**
   * A log in which agents published a listing a month ago. Their listings do not resemble each other. With
   * `sell`, each agent sold one hire.
   */
  const aMonthAgo = (
    agents: Address[],
    { sell = true, fundedBy }: { sell?: boolean; fundedBy?: Address } = {},
  ) => {
    const log = stewardLog();
    for (const [n, agent] of agents.entries()) {
      if (fundedBy !== undefined) log.transfer(fundedBy, agent, 10_000_000);
      log.listing(agent, `custom.kind${n}`, { price_usdc: `${2 ** (n % 30)}` });
      if (sell) log.hire(agent, wallet(5_000 + n), { amount: 1_000 });
    }
    return log.after(31 * DAY);
  };
  const done = (log: EventLog) => log.after(HOUR).tick();

  it("in a ring of endorsements none counts if one wallet funds all; otherwise each counts with its endorser's own score", async () => {
    for (const [fundedBy, endorsements, reason] of [
      [wallet(99), 0, `${wallet(1_009)} * cluster`],
      [undefined, 52_112_888, ""],
    ] as const) {
      const ring = sybils(10);
      const log = aMonthAgo(ring, fundedBy && { fundedBy });
      for (const [n, agent] of ring.entries()) {
        log.after(2 * HOUR);
        endorse(log, agent, ring[(n + 1) % 10] ?? agent);
      }
      // Each agent sells a second time, so its endorsement has a value: 25 of 85.
      for (const [n, agent] of ring.entries()) log.hire(agent, wallet(5_000 + n), { amount: 1_000 });
      done(log).after(HOUR).tick();
      const first = await stewardOf(log, ring[0]);
      expect([first.endorsements, first.leftOut]).to.deep.equal([endorsements, reason]);
    }
  });

  it("400 worthless endorsements of a rival do not change its score, because none counts without its consent", async () => {
    const crowd = sybils(400);
    const log = aMonthAgo(crowd.slice(0, 5));
    for (const agent of crowd.slice(0, 5)) {
      endorse(log, agent, AGENT);
      log.after(2 * HOUR);
    }
    const before = await stewardOf(done(log));
    for (const [n, agent] of crowd.slice(5).entries()) {
      log.listing(agent, `custom.more${n}`, { price_usdc: `${2 ** (n % 30)}` });
      log.record("endorsement", agent, { endorser: agent, agent_id: AGENT, issued_at: log.time });
    }
    const after = await stewardOf(done(log));
    expect(after.endorsements).to.equal(before.endorsements);
    const reasons = (await reasonsOf(log, "endorsement")).filter((it) => it !== null);
    expect(new Set(reasons)).to.deep.equal(
      new Set([`body.agent_signature must be ${AGENT}'s signature over the body without this field`]),
    );
    expect(reasons.length).to.equal(395);
  });

  it("34 sybils without a sale add nothing; with a sale of $0.001 each a month they add .15 × .9 × their own score", async () => {
    for (const [sell, value] of [
      [false, 0],
      [true, 264_705_882],
    ] as const) {
      const crowd = sybils(34);
      const log = aMonthAgo(crowd, { sell });
      if (sell)
        for (const [n, agent] of crowd.entries()) log.hire(agent, wallet(5_000 + n), { amount: 1_000 });
      for (const agent of crowd) {
        endorse(log, agent, AGENT);
        log.after(2 * HOUR);
      }
      done(log).after(HOUR).tick();
      expect((await stewardOf(log)).endorsements, `${sell}`).to.equal(value);
    }
  });

  it("one bribed prober of three changes nothing by lies or by silence", async () => {
    const log = stewardLog({ probers: 3 });
    for (let hour = 0; hour < 24; hour++) {
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, PROBER, hour, {
        hosts: { [HOST]: slots("0".repeat(12)), "dead.example:443": slots("0".repeat(12)) },
        served: { [AGENT]: ["dead.example:443"] },
      });
      for (const prober of [SECOND, THIRD])
        report(log, prober, hour, { hosts: { [HOST]: UP, "dead.example:443": slots("0".repeat(12)) } });
      log.tick();
    }
    const { uptime, slotSums } = await stewardOf(close(log));
    expect([uptime, slotSums.split(" ")[0]]).to.deep.equal([1_000_000_000, "288:0:0"]);
  });

  it("an agent that answers only probes has an uptime of 1 and a success rate of 0", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, PROBER, 0, { hosts: { [HOST]: UP } });
    for (let n = 0; n < 10; n++) log.timedOut(log.deposit(AGENT, wallet(300 + n)), false);
    for (let n = 0; n < 10; n++) {
      const escrow = log.deposit(AGENT, wallet(300 + n));
      log.receipt(AGENT, wallet(300 + n), {
        escrow_id: escrow,
        payment_mode: "platform_escrow:swarmwage-partnered",
      });
      log.timedOut(escrow, false);
    }
    const { uptime, successRate, score } = await stewardOf(close(log));
    expect([uptime, successRate, score]).to.deep.equal([1_000_000_000, 0, 200_000_000]);
  });

  it("thousands of dead listings cannot void slots: a host that was down before does not count", async () => {
    const log = stewardLog();
    const dead = Object.fromEntries(
      Array.from({ length: 900 }, (_, n) => [`d${n}.example:443`, slots("0".repeat(12))]),
    );
    for (const hour of [0, 1, 2]) {
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, PROBER, hour, { hosts: { [HOST]: hour === 0 ? UP : slots("0".repeat(12)) } });
      for (const part of [1, 2, 3]) {
        const hosts = Object.fromEntries(
          Object.entries(dead).map(([host, word]) => [`p${part}${host}`, word]),
        );
        report(log, PROBER, hour, { hosts, part, served: {} });
      }
    }
    const { slotSums } = await stewardOf(close(log));
    expect(slotSums.split(" ")[0]).to.equal("36:24:24");
  });

  it("decoys that go down with the agent hide its downtime only if they sold something and are as many as the other sellers (at least 11 of 20)", async () => {
    const lost = async (decoys: number, honest: number, sold = 1) => {
      const log = stewardLog();
      const names = (name: string, count: number) =>
        Array.from({ length: count }, (_, n) => `${name}${n}.example:443`);
      const served = {
        ...sellersOf(log, [HOST, ...names("decoy", decoys * sold)], 1000),
        ...sellersOf(log, names("h", honest), 2000),
      };
      const hosts = (down: boolean) =>
        Object.fromEntries([
          [HOST, down ? slots("0".repeat(12)) : UP],
          ...Array.from({ length: decoys }, (_, n) => [
            `decoy${n}.example:443`,
            down ? slots("0".repeat(12)) : UP,
          ]),
          ...Array.from({ length: honest }, (_, n) => [`h${n}.example:443`, UP]),
        ]);
      for (const [hour, down] of [false, true].entries()) {
        goTo(log, START + (hour + 1) * HOUR + 1);
        report(log, PROBER, hour, { hosts: hosts(down), served });
      }
      return (await stewardOf(close(log))).slotSums.split(" ")[0];
    };
    expect(await lost(99, 100)).to.equal("24:12:12");
    expect(await lost(100, 100)).to.equal("12:0:0");
    expect(await lost(400, 100, 0), "decoys that sold nothing").to.equal("24:12:12");
  });

  it("one buyer that refunds itself breaches no SLA, however often", async () => {
    const log = stewardLog();
    const guarantee = {
      metric: "success_rate",
      target: "0.98",
      measurement_window: "30 days",
      breach_threshold: "0.9",
      penalty: { type: "temporary_suspension", duration: "7 days" },
    };
    log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees: [guarantee], issued_at: log.time });
    goTo(log, START + DAY);
    for (let n = 0; n < 60; n++) log.hire(AGENT, BUYER, { passed: n % 2 === 0 });
    const { store } = await done(log).derive();
    expect((store as MemoryStore).rows("breach").size).to.equal(0);
    expect([...store.rows("guarantee").values()].map(({ status }) => status)).to.deep.equal(["at_risk"]);
  });

  it("tests that an agent repeats until they pass are shown as its own statement, and are worth at most .3 + .1", async () => {
    const log = stewardLog();
    attest(log, { runs: [testRun({ seed: "1", passing: 383 }), testRun({ seed: "2", passing: 383 })] });
    const { score, scoredAttestation, tier } = await stewardOf(log.after(600).tick());
    const { store } = await log.derive();
    const kind = store.rows("attestation").get(scoredAttestation ?? "")?.kind;
    expect([score, kind, tier]).to.deep.equal([400_000_000, "self", 0]);
  });
});
