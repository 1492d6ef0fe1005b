import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import {
  AGENT,
  ATTESTOR,
  attest,
  BUYER,
  close,
  endorse,
  goTo,
  reasonsOf,
  stewardLog,
  stewardOf,
  testRun,
} from "./stewardScene.ts";

describe("the coverage and freshness of tests", () => {
  const coverage = async (runs: RecordBody[]) => {
    const log = stewardLog();
    attest(log, { runs });
    return (await stewardOf(log.after(3600).tick())).testCoverage;
  };
  const other = `0x${"b2".repeat(32)}`;

  it("have the coverage of the worst run", async () => {
    expect(await coverage([testRun({ seed: "1" }), testRun({ seed: "2", passing: 368 })])).to.equal(
      960_835_509,
    );
    expect(await coverage([testRun({ seed: "1", passing: 1, total: 2 }), testRun({ seed: "2" })])).to.equal(
      500_000_000,
    );
  });

  it("have a coverage only after two runs, with different seeds or with equal results of each test", async () => {
    const full = 963_446_475;
    expect(await coverage([testRun({ seed: "1" })])).to.equal(0);
    expect(await coverage([testRun({ seed: "1" }), testRun({ seed: "1" })])).to.equal(0);
    expect(await coverage([testRun({ seed: "1" }), testRun({ seed: "2" })])).to.equal(full);
    expect(await coverage([testRun(), testRun()])).to.equal(full);
    expect(await coverage([testRun(), testRun({ outcomes_hash: other })])).to.equal(0);
    expect(await coverage([testRun(), testRun({ outcomes_hash: other }), testRun()])).to.equal(full);
    expect(await coverage([testRun({ seed: "1" }), testRun()]), "one of each").to.equal(0);
  });

  it("have a coverage of 0 when a run had no tests", async () => {
    expect(await coverage([testRun({ seed: "1" }), testRun({ seed: "2", passing: 0, total: 0 })])).to.equal(
      0,
    );
  });

  it("have a freshness that falls by whole hours and is 0 from 24 hours on", async () => {
    for (const [seconds, freshness] of [
      [2 * HOUR, 916_666_667],
      [3 * HOUR - 1, 916_666_667],
      [12 * HOUR, 500_000_000],
      [23 * HOUR, 41_666_667],
      [24 * HOUR - 1, 41_666_667],
      [24 * HOUR, 0],
    ] as const) {
      const log = stewardLog();
      attest(log);
      expect((await stewardOf(log.after(seconds).tick())).freshness, `${seconds} s`).to.equal(freshness);
    }
  });

  it("use the latest run, whether the agent or an attestor reports it, and refuse a run that is not newer", async () => {
    const log = stewardLog();
    goTo(log, START + DAY);
    attest(log, { by: ATTESTOR, ran_at: START + 10 });
    attest(log, { ran_at: START + 10 });
    attest(log, { ran_at: START + 9 });
    attest(log, { ran_at: log.time + 1 });
    attest(log, { by: BUYER });
    attest(log, { agent_id: wallet(77), by: wallet(77) });
    expect(await reasonsOf(log, "attestation")).to.deep.equal([
      null,
      `body.ran_at must be above ${START + 10}`,
      `body.ran_at must be above ${START + 10}`,
      "body.ran_at is later than the record itself",
      `signer must be the agent itself, ${AGENT}, or an attestor`,
      `body.agent_id ${wallet(77)} is no agent`,
    ]);
    const latest = async () => {
      const { store } = await log.derive();
      const { attestation, alias } = store.rows("steward").get(AGENT) ?? {};
      return [store.rows("attestation").get(attestation ?? "")?.kind, alias];
    };
    expect(await latest()).to.deep.equal(["attested", null]);
    attest(log, { alias: "ada" });
    expect(await latest()).to.deep.equal(["self", "ada"]);
  });
});

describe("an attestation", () => {
  it("is stored with its worst run and all that it says", async () => {
    const log = stewardLog();
    const runs = [testRun({ seed: "1", passing: 368 }), testRun({ seed: "2" })];
    const id = attest(log, { runs, alias: "ada", coverage_tool: "c8", ci_url: "https://ci.example/1" });
    const { store } = await log.derive();
    const { runs: said = "", ...row } = store.rows("attestation").get(id) ?? {};
    expect(JSON.parse(said)).to.deep.equal(runs);
    expect(row).to.deep.equal({
      ...{ id, agent: AGENT, kind: "self", signer: AGENT, alias: "ada", version: "1.0.0" },
      ...{ commit: "ab".repeat(20), ciUrl: "https://ci.example/1", coverageTool: "c8", ranAt: START },
      ...{ testsPassing: 368, testsTotal: 383, block: log.block, time: START },
    });
  });
});

describe("success rate", () => {
  const rate = async (log: EventLog) => (await stewardOf(log.after(3600).tick())).successRate;

  it("covers today and the 29 UTC days before", async () => {
    for (const [days, expected] of [
      [29, 500_000_000],
      [30, 0],
    ] as const) {
      const log = stewardLog();
      log.hire(AGENT, BUYER);
      log.hire(AGENT, BUYER, { passed: false });
      goTo(log, START + days * DAY);
      expect(await rate(log), `${days} days later`).to.equal(expected);
    }
  });

  it("leaves out a failure if the hire's buyer says that its own request was at fault, before or after the hire counts", async () => {
    for (const failure of ["client_error", "timeout", undefined]) {
      const log = stewardLog();
      log.hire(AGENT, BUYER);
      const receipt = log.hire(AGENT, BUYER, { passed: false });
      log.record("telemetry", BUYER, {
        receipt,
        verification: { all_passed: false },
        ...(failure !== undefined && { failure }),
      });
      expect(await rate(log), failure).to.equal(failure === "client_error" ? 1_000_000_000 : 500_000_000);
    }
    const log = stewardLog();
    log.hire(AGENT, BUYER);
    const escrow = log.deposit(AGENT, BUYER);
    const receipt = log.receipt(AGENT, BUYER, {
      escrow_id: escrow,
      payment_mode: "platform_escrow:swarmwage-partnered",
    });
    log.record("telemetry", BUYER, { receipt, failure: "client_error" });
    log.refunded(escrow, BUYER);
    expect(await rate(log), "by escrow").to.equal(1_000_000_000);
  });

  it("keeps a success whose buyer says that its own request was at fault", async () => {
    const log = stewardLog();
    const receipt = log.hire(AGENT, BUYER);
    log.record("telemetry", BUYER, { receipt, verification: { all_passed: true }, failure: "client_error" });
    expect(await rate(log)).to.equal(1_000_000_000);
  });

  it("is 0 without a hire, and a second figure, outside of the score, decays by day", async () => {
    const log = stewardLog();
    attest(log);
    const empty = await stewardOf(log.after(3600).tick());
    expect([empty.successRate, empty.decayedSuccess, empty.decayedUptime]).to.deep.equal([0, null, null]);
    log.hire(AGENT, BUYER, { passed: false });
    goTo(log, START + 10 * DAY);
    log.hire(AGENT, BUYER);
    const row = await stewardOf(log.after(3600).tick());
    // 1 / (1 + e^(−1))
    expect([row.successRate, row.decayedSuccess]).to.deep.equal([500_000_000, 731_058_579]);
  });
});

describe("endorsements", () => {
  const endorsers = Array.from({ length: 8 }, (_, n) => wallet(100 + n));
  /** Endorsers that sold something a month ago, and are in no cluster. */
  const scene = ({ sold = endorsers, month = 30 * DAY }: { sold?: Address[]; month?: number } = {}) => {
    const log = stewardLog();
    for (const [n, endorser] of endorsers.entries()) {
      log.listing(endorser, `custom.kind${n}`, { price_usdc: String(2 ** (n + 3)) });
      if (sold.includes(endorser)) log.hire(endorser, wallet(200 + n));
    }
    return goTo(log, log.time + month);
  };
  const derived = async (log: EventLog) => {
    const { endorsementCount, uniqueEndorsers, leftOut, endorsements, endorserTrust } = await stewardOf(
      log.after(3600).tick(),
    );
    return { endorsementCount, uniqueEndorsers, leftOut, endorsements, endorserTrust };
  };
  const [first = wallet(100), second = wallet(101)] = endorsers;

  it("count with the endorser's own score, computed without endorsements", async () => {
    const log = scene();
    attest(log, { agent_id: first, by: first });
    endorse(log, first, AGENT);
    log.after(HOUR).tick();
    const row = await stewardOf(log, first);
    expect(row.ownTrust).to.equal(Math.round((30 * 963_446_475 + 10 * row.freshness) / 85));
    const { endorsementCount, endorserTrust, endorsements } = await derived(log);
    expect([endorsementCount, endorserTrust]).to.deep.equal([1, (await stewardOf(log, first)).ownTrust]);
    expect(endorsements).to.equal(Math.round(endorserTrust * 0.17718382013555792));
  });

  it("are left out with a reason", async () => {
    const bad: [reason: string, log: EventLog][] = [];
    const mutual = scene();
    endorse(mutual, first, AGENT);
    endorse(mutual, AGENT, first);
    bad.push(["mutual", mutual], ["young", scene({ month: 29 * DAY })], ["no_sale", scene({ sold: [] })]);
    const ring = scene();
    for (const agent of [AGENT, first, second, wallet(102)]) ring.transfer(wallet(99), agent, 100_000_000);
    bad.push(["cluster", ring]);
    for (const [reason, log] of bad) {
      if (reason !== "mutual") endorse(log, first, AGENT);
      const { endorsementCount, leftOut } = await derived(log);
      expect([endorsementCount, leftOut], reason).to.deep.equal([0, `${first} * ${reason}`]);
    }
  });

  it("need an endorser that is at least thirty days old", async () => {
    for (const [seconds, count] of [
      [0, 0],
      [300, 1],
    ] as const) {
      const log = scene({ month: 0 });
      endorse(log, first, AGENT);
      const { time } = log.events.find((it) => it.kind === "record" && it.signer === first) as {
        time: number;
      };
      // The agent's own slot has to be over at that tick.
      goTo(log, time + 30 * DAY - 299 + seconds - 1).tick();
      expect((await stewardOf(log)).endorsementCount, `${seconds} s`).to.equal(count);
    }
  });

  it("of four endorsers or more within an hour are ignored as a crowd", async () => {
    for (const [endorserCount, seconds, count] of [
      [3, 0, 3],
      [4, 0, 0],
      [4, 1200, 0],
      [4, 1201, 4],
    ] as const) {
      const log = scene();
      for (const endorser of endorsers.slice(0, endorserCount)) {
        endorse(log, endorser, AGENT);
        log.after(seconds);
      }
      expect((await derived(log)).endorsementCount, `${endorserCount}, ${seconds} s apart`).to.equal(count);
    }
  });

  it("of one endorser count at most three times, and as one endorser", async () => {
    const log = scene();
    for (const kind of ["a1", "b1", "c1", "d1"]) endorse(log, first, AGENT, { capability: `custom.${kind}` });
    const { endorsementCount, uniqueEndorsers } = await derived(log);
    expect([endorsementCount, uniqueEndorsers]).to.deep.equal([3, 1]);
    expect((await stewardOf(log)).endorsedBy).not.to.contain("custom.a1");
  });

  it("are the newest 64", async () => {
    const log = stewardLog();
    const many = Array.from({ length: 66 }, (_, n) => wallet(400 + n));
    for (const [n, endorser] of many.entries()) {
      log.after(1).listing(endorser, `custom.kind${n}`, { price_usdc: String(2 ** (n % 30)) });
      endorse(log, endorser, AGENT);
    }
    const held = (await stewardOf(log)).endorsedBy.split("\n").map((line) => line.split(" ")[0]);
    expect(held).to.deep.equal(many.slice(2));
  });

  it("are stored with all that they say, as last said", async () => {
    const log = scene();
    endorse(log, first, AGENT, { capability: "custom.a", statement: "good" });
    endorse(log, second, AGENT);
    const record = endorse(log.after(9), second, AGENT, { revoked: true });
    const { store } = await log.derive();
    const of = { agent: AGENT, isRevoked: false, statement: null, capability: null };
    const [one, two] = store.rows("endorsement").values();
    expect(one).to.deep.include({
      ...{ ...of, id: `${first}/${AGENT}/custom.a`, endorser: first, capability: "custom.a" },
      ...{ statement: "good", issuedAt: log.time - 9, time: log.time - 9 },
    });
    expect(two).to.deep.equal({
      ...{ ...of, id: `${second}/${AGENT}/*`, endorser: second, isRevoked: true, record },
      ...{ issuedAt: log.time, time: log.time },
    });
  });

  it("of endorsers that are one buyer count as one endorser", async () => {
    const log = scene();
    for (const agent of endorsers.slice(0, 4)) log.transfer(wallet(99), agent, 100_000_000);
    for (const endorser of endorsers.slice(0, 6)) {
      endorse(log, endorser, AGENT);
      log.after(2 * HOUR);
    }
    const { endorsementCount, uniqueEndorsers } = await derived(log);
    expect([endorsementCount, uniqueEndorsers]).to.deep.equal([6, 3]);
    // The leaf of the score names them by the first in its own lines, and not by how their groups were merged.
    const parties = (await stewardOf(log)).counted.split("\n").map((line) => line.split(" ")[2]);
    expect(parties).to.deep.equal([first, first, first, first, ...endorsers.slice(4, 6)]);
  });

  it("can be withdrawn, and an older record does not bring an endorsement back", async () => {
    const log = scene();
    endorse(log, first, AGENT, { issued_at: START + 5 });
    endorse(log, first, AGENT, { issued_at: START + 6, revoked: true });
    endorse(log, first, AGENT, { issued_at: START + 5 });
    endorse(log, first, AGENT, { issued_at: log.time + 1 });
    endorse(log, AGENT, AGENT);
    endorse(log, second, AGENT, { endorser: first });
    expect((await derived(log)).endorsementCount).to.equal(0);
    expect(await reasonsOf(log, "endorsement")).to.deep.equal([
      null,
      null,
      `body.issued_at must be above ${START + 6}`,
      "body.issued_at is later than the record itself",
      "body.agent_id must not be the endorser itself",
      `signer must be the endorser itself, ${first}`,
    ]);
  });

  it("need the endorsed agent's consent, and an agent on each side", async () => {
    const log = scene();
    const body = { endorser: first, agent_id: AGENT, issued_at: START };
    log.record("endorsement", first, body);
    endorse(log, wallet(88), AGENT);
    endorse(log, first, wallet(88));
    expect(await reasonsOf(log, "endorsement")).to.deep.equal([
      `body.agent_signature must be ${AGENT}'s signature over the body without this field`,
      `${wallet(88)} is no agent`,
      `${wallet(88)} is no agent`,
    ]);
  });
});

describe("the time at which a score is computed", () => {
  it("is after the five minutes of an agent's slot, once an hour", async () => {
    const log = stewardLog();
    attest(log);
    log.tick();
    const times: (number | null)[] = [];
    for (let n = 1; n <= 14; n++) {
      goTo(log, START + n * 300).tick();
      times.push((await stewardOf(log)).computedTime);
    }
    const minute = (n: number) => START + n * 300;
    // The agent's address is 1, so its slot is from minute 5 to 10.
    expect(times.slice(0, 3)).to.deep.equal([START, minute(2), minute(2)]);
    expect(times.slice(-3)).to.deep.equal([minute(2), minute(2), minute(14)]);
  });

  it("is the next tick, also if it comes many hours later", async () => {
    const log = close(stewardLog());
    attest(log);
    goTo(log, START + 50 * HOUR).tick();
    expect((await stewardOf(log)).computedTime).to.equal(START + 50 * HOUR);
  });
});
