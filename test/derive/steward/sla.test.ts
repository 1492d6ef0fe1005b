import { expect } from "chai";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { revokedBadges, scoreLeft, suspendedUntil } from "tallystick-derive/steward/sla/penalties";
import { latenciesOf } from "tallystick-derive/steward/sla/slaHires";
import { daysUntilBreach, withClose } from "tallystick-derive/steward/sla/trend";
import type { Row } from "tallystick-derive/tables";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import { derive as deriveRelevant, relevant as relevantOf } from "../relevant/agreement.ts";
import {
  AGENT,
  ARBITRATOR,
  goTo,
  HOST,
  PROBERS,
  reasonsOf,
  report,
  slots,
  stewardLog,
  stewardOf,
} from "./stewardScene.ts";

const PROBER = PROBERS[0] ?? wallet(30);
const reduction = { type: "trust_score_reduction", amount: "0.1" };
const suspension = { type: "temporary_suspension", duration: "7 days" };
const week = 7 * DAY;

const uptime = (penalty: RecordBody = reduction, more: RecordBody = {}): RecordBody => ({
  metric: "uptime",
  target: "0.99",
  measurement_window: "7 days",
  breach_threshold: "0.95",
  penalty,
  ...more,
});
const success = (penalty: RecordBody = reduction, more: RecordBody = {}): RecordBody => ({
  metric: "success_rate",
  target: "0.98",
  measurement_window: "30 days",
  breach_threshold: "0.9",
  penalty,
  ...more,
});
const latency = (penalty: RecordBody = reduction): RecordBody => ({
  metric: "latency_p99",
  target: "5000",
  unit: "milliseconds",
  measurement_window: "7 days",
  breach_threshold: "7500",
  penalty,
});

function promise(log: EventLog, ...guarantees: RecordBody[]): EventLog {
  log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees, issued_at: log.time });
  return log;
}

/** Days of hourly reports, with a tick every hour. `word` gives what the probers see in an hour. */
function daysOf(log: EventLog, from: number, count: number, word: (hour: number) => string): EventLog {
  for (let hour = 24 * from; hour < 24 * (from + count); hour++) {
    goTo(log, START + (hour + 1) * HOUR + 1);
    const served = hour % 24 === 0 ? undefined : {};
    report(log, PROBER, hour, { hosts: { [HOST]: slots(word(hour)) }, ...(served && { served }) });
    log.tick();
  }
  return log;
}

const up = () => "1".repeat(12);
const rows = <T extends "breach" | "guarantee" | "slaClaim" | "breachStep">(store: MemoryStore, table: T) => [
  ...(store.rows(table).values() as Iterable<Row<T>>),
];
const stepsOf = (store: MemoryStore) => rows(store, "breachStep").map(({ step }) => step);

async function breachOf(log: EventLog): Promise<Row<"breach">> {
  const [breach] = rows((await log.derive()).store, "breach");
  if (breach === undefined) throw new Error("nothing was breached");
  return breach;
}

const hires = (
  log: EventLog,
  count: number,
  passed: boolean,
  { buyers = 3, from = 300, latency_ms = 100 } = {},
) => {
  for (let n = 0; n < count; n++) log.hire(AGENT, wallet(from + (n % buyers)), { passed, latency_ms });
};

/** A guarantee of the success rate that is breached on the second day at 13:00. */
function breached(penalty: RecordBody = reduction, more: { steward?: object } = {}): EventLog {
  const log = promise(stewardLog(more), success(penalty));
  goTo(log, START + DAY + 12 * HOUR);
  hires(log, 17, true);
  hires(log, 3, false);
  return log.after(HOUR).tick();
}

describe("SLAs: a breach", () => {
  it("is strictly beyond the threshold, and a value at the target is compliant", async () => {
    for (const [ok, failed, status, count] of [
      [49, 1, "compliant", 0],
      [97, 3, "at_risk", 0],
      [27, 3, "at_risk", 0],
      [26, 3, "breached", 1],
    ] as const) {
      const log = promise(stewardLog(), success());
      goTo(log, START + DAY);
      hires(log, ok, true);
      hires(log, failed, false);
      const { store } = await log.after(HOUR).tick().derive();
      const [guarantee] = rows(store, "guarantee");
      expect([guarantee?.status, rows(store, "breach").length], `${ok}, ${failed}`).to.deep.equal([
        status,
        count,
      ]);
      expect(store.rows("sla").get(AGENT)?.status).to.equal(status);
    }
  });

  it("needs twenty hires, and failures of three families of buyers", async () => {
    const count = async (build: (log: EventLog) => void) => {
      const log = promise(stewardLog(), success());
      goTo(log, START + DAY);
      build(log);
      return rows((await log.after(HOUR).tick().derive()).store, "breach").length;
    };
    expect(await count((log) => hires(log, 19, false))).to.equal(0);
    expect(await count((log) => hires(log, 20, false))).to.equal(1);
    expect(await count((log) => hires(log, 40, false, { buyers: 2 }))).to.equal(0);
    const fundedBy =
      (funder: number, ...buyers: number[]) =>
      (log: EventLog) => {
        for (const n of buyers) log.transfer(wallet(funder), wallet(n), 90_000);
        hires(log, 40, false, { buyers: 4 });
      };
    expect(await count(fundedBy(99, 300, 301, 302, 303)), "four buyers of one family").to.equal(0);
    expect(await count(fundedBy(99, 300, 301, 302)), "two families").to.equal(0);
    expect(await count(fundedBy(99, 300, 301)), "three families").to.equal(1);
    expect(await count(fundedBy(1, 300, 301)), "two buyers of the agent's own family").to.equal(0);
    expect(await count(fundedBy(1, 300)), "one buyer of the agent's own family").to.equal(1);
    expect(
      await count((log) => {
        hires(log, 40, false, { buyers: 4 });
        for (const n of [300, 301, 302, 303]) log.transfer(wallet(99), wallet(n), 90_000);
      }),
      "money that reaches the buyers after their hires",
    ).to.equal(1);
    for (const [steps, breaches] of [
      [16, 1],
      [17, 0],
    ] as const)
      expect(
        await count((log) => {
          const way = Array.from({ length: steps }, (_, n) => wallet(500 + n));
          for (const [n, from] of way.entries()) log.transfer(from, way[n + 1] ?? wallet(300), 90_000);
          hires(log, 40, false, { buyers: 3 });
        }),
        `the first wallet of the money is ${steps} steps away`,
      ).to.equal(breaches);
    expect(
      await count((log) => {
        hires(log, 10, false);
        log.transfer(AGENT, wallet(400), 90_000);
        hires(log, 200, true, { buyers: 1, from: 400 });
        hires(log, 10, false);
      }),
      "good hires that the agent pays for itself",
    ).to.equal(1);
    expect(
      await count((log) => {
        for (const buyer of [AGENT, wallet(300), wallet(301), wallet(302)]) {
          log.listing(buyer, `custom.x${buyer.slice(-3)}`, { price_usdc: "7" });
          log.transfer(wallet(99), buyer, 100_000_000);
        }
        hires(log, 40, false);
      }),
      "buyers of the agent's own cluster",
    ).to.equal(0);
  });

  it("also needs the families' mean share beyond the threshold, with one vote for each family", async () => {
    const count = async (guarantee: RecordBody, content: number, bad: (log: EventLog) => void) => {
      const log = promise(stewardLog(), guarantee);
      goTo(log, START + DAY);
      hires(log, content, true, { buyers: content, from: 400 });
      bad(log);
      return rows((await log.after(HOUR).tick().derive()).store, "breach").length;
    };
    // The share of good hires is far below nine tenths. The mean share of the families is exactly nine tenths, or
    // below.
    expect(await count(success(), 27, (log) => hires(log, 30, false))).to.equal(0);
    expect(await count(success(), 26, (log) => hires(log, 30, false))).to.equal(1);
    const late = (log: EventLog) => hires(log, 30, true, { latency_ms: 7_501 });
    expect(await count(latency(), 297, late)).to.equal(0);
    expect(await count(latency(), 296, late)).to.equal(1);
    // A family that also had good hires has only a part of a vote against the agent.
    const torn = (log: EventLog) => [hires(log, 3, true), hires(log, 30, false)];
    expect(await count(success(), 25, torn)).to.equal(0);
    expect(await count(success(), 24, torn)).to.equal(1);
  });

  it("uses whole UTC days, from the first midnight after the promise on", async () => {
    for (const [day, count] of [
      [0, 0],
      [1, 1],
    ] as const) {
      const log = promise(stewardLog(), success());
      goTo(log, START + day * DAY + 10);
      hires(log, 40, false);
      const { store } = await goTo(log, START + 3 * DAY)
        .tick()
        .derive();
      expect(rows(store, "breach").length, `day ${day}`).to.equal(count);
    }
  });

  it("leaves out failures that the buyer calls its own fault, and follows amended reports", async () => {
    const log = promise(stewardLog(), success());
    goTo(log, START + DAY);
    hires(log, 27, true);
    const failures = [300, 301, 302, 303].map((n) =>
      log.hire(AGENT, wallet(n), { passed: false, latency_ms: 1 }),
    );
    const [first = "", second = ""] = failures;
    log.record("telemetry", wallet(300), { receipt: first, failure: "client_error" });
    log.record("telemetry", wallet(301), {
      receipt: second,
      latency_ms: 9,
      verification: { all_passed: true },
    });
    const { store } = await log.after(HOUR).tick().derive();
    const [guarantee] = rows(store, "guarantee");
    expect(guarantee?.current).to.equal((28n * 2_000_000_000n + 30n) / 60n);
    const day = `${AGENT}/${START / DAY + 1}`;
    const failing = [302, 303].map(wallet).join(" ");
    const slowest = [302, 301, 300].map((n) => `${wallet(n)}:100`).join(" ");
    expect([...store.rows("slaDay").values()]).to.deep.equal([
      ...[
        { id: day, ok: 28, failed: 2, latencies: 31, failingFamilies: 2, slowFamilies: 4, failing, slowest },
      ],
    ]);
    const latencies = [1, 1, 1, 9, ...Array(27).fill(100)];
    expect(store.rows("orderedNode").get(latenciesOf(day))?.counts).to.equal(`=${latencies.join(",")}`);
  });

  it("uses latencies by nearest rank", async () => {
    for (const [late, current, count] of [
      [1, 100n, 0],
      [3, 7_501n, 1],
    ] as const) {
      const log = promise(stewardLog(), latency());
      goTo(log, START + DAY);
      hires(log, 100 - late + (late === 1 ? 0 : 1), true);
      hires(log, late, true, { latency_ms: 7_501 });
      const { store } = await log.after(HOUR).tick().derive();
      const [guarantee] = rows(store, "guarantee");
      expect([guarantee?.current, rows(store, "breach").length], `${late}`).to.deep.equal([
        current * 1_000_000_000n,
        count,
      ]);
    }
    const log = promise(stewardLog(), latency());
    goTo(log, START + DAY);
    hires(log, 40, true, { latency_ms: 7_500 });
    expect(rows((await log.after(HOUR).tick().derive()).store, "breach"), "at the threshold").to.have.length(
      0,
    );
  });

  it("does not exist without data", async () => {
    const log = promise(stewardLog(), success(), latency(), uptime());
    const { store } = await goTo(log, START + 3 * DAY)
      .tick()
      .derive();
    for (const it of rows(store, "guarantee"))
      expect([it.current, it.status]).to.deep.equal([null, "compliant"]);
  });
});

describe("SLAs: a breach that leads to a penalty", () => {
  it("is detected first, and is confirmed if nobody disputes it for seven days", async () => {
    for (const [seconds, status] of [
      [week, "detected"],
      [week + 1, "confirmed"],
    ] as const) {
      const log = breached();
      const { detectedTime } = await breachOf(log);
      goTo(log, detectedTime + seconds).tick();
      expect((await breachOf(log)).status, `${seconds}`).to.equal(status);
    }
  });

  it("accepts the agent's first dispute within seven days, and waits seven more days for a ruling", async () => {
    const dispute = (log: EventLog, id: string, by = AGENT) =>
      log.record("sla_dispute", by, {
        breach: id,
        agent_id: by,
        claim: "no",
        evidence: [],
        requested_remedy: "remove_penalty",
      });
    const late = breached();
    const { id, detectedTime } = await breachOf(late);
    goTo(late, detectedTime + week + 1);
    dispute(late, id);
    expect(await reasonsOf(late, "sla_dispute")).to.deep.equal(["the time for a dispute is over"]);

    const log = breached();
    goTo(log, detectedTime + week);
    dispute(log, id, wallet(300));
    dispute(log, id);
    dispute(log, id);
    expect(await reasonsOf(log, "sla_dispute")).to.deep.equal([
      `signer and body.agent_id must be the breach's agent, ${AGENT}`,
      null,
      "the breach was disputed before",
    ]);
    goTo(log, detectedTime + 2 * week).tick();
    expect((await breachOf(log)).status).to.equal("disputed");
    log.after(1).tick();
    expect(stepsOf((await log.derive()).store)).to.deep.equal(["detected", "disputed", "confirmed"]);
  });

  const ruled = async (ruling: string, { disputed = true, by = ARBITRATOR, wait = 0 } = {}) => {
    const log = breached();
    const { id } = await breachOf(log);
    if (disputed)
      log.record("sla_dispute", AGENT, {
        breach: id,
        agent_id: AGENT,
        claim: "no",
        evidence: [],
        requested_remedy: "remove_penalty",
      });
    log.after(wait);
    log.record("sla_ruling", by, { breach: id, ruling, reasons: "why", excuse: "registry_outage" });
    const { store } = await log.tick().derive();
    const reasons = (await reasonsOf(log, "sla_ruling"))[0];
    return { store, status: (await breachOf(log)).status, reasons, log, id };
  };

  it("is upheld or overturned by an arbitrator", async () => {
    expect((await ruled("upheld")).status).to.equal("confirmed");
    const { store, status } = await ruled("overturned");
    expect(status).to.equal("overturned");
    expect([store.rows("sla").get(AGENT)?.breaches, rows(store, "guarantee")[0]?.openBreach]).to.deep.equal([
      "",
      null,
    ]);
    expect((await ruled("upheld", { by: wallet(300) })).reasons).to.equal(
      `signer ${wallet(300)} is no arbitrator`,
    );
    expect((await ruled("upheld", { disputed: false })).reasons).to.equal(
      "a breach that is detected cannot be upheld now",
    );
    expect((await ruled("overturned", { disputed: false })).reasons).to.equal("the breach is not disputed");
    expect((await ruled("reinstated")).reasons).to.equal(
      "a breach that is disputed cannot be reinstated now",
    );
  });

  it("accepts a ruling until the last second, and a later ruling `overturned` ends its penalty", async () => {
    expect((await ruled("upheld", { wait: week })).reasons).to.equal(null);
    expect((await ruled("upheld", { wait: week + 1 })).reasons).to.equal(
      "a breach that is disputed cannot be upheld now",
    );
    const { log, id } = await ruled("upheld");
    const reduced = await stewardOf(log.after(2 * HOUR).tick());
    expect(reduced.score).to.equal(Math.round(reduced.algorithmScore * 0.9));
    log.record("sla_ruling", ARBITRATOR, { breach: id, ruling: "overturned", reasons: "after all" });
    const { score, algorithmScore } = await stewardOf(log.after(HOUR).tick());
    expect(score).to.equal(algorithmScore);
  });

  it("is no longer the agent's last confirmed breach after a ruling `overturned`", async () => {
    const { log, id } = await ruled("upheld");
    const lastConfirmed = async () => (await log.derive()).store.rows("sla").get(AGENT)?.lastConfirmed;
    expect(await lastConfirmed()).to.equal((await breachOf(log)).confirmedTime);
    log.record("sla_ruling", ARBITRATOR, { breach: id, ruling: "overturned", reasons: "after all" });
    expect(await lastConfirmed()).to.equal(null);
  });

  it("has the time for a dispute that the parameters give", async () => {
    const log = breached(reduction, { steward: { arbitrators: [], disputeSeconds: 60, reviewSeconds: 60 } });
    const { detectedTime, decidedBy } = await breachOf(log);
    expect(decidedBy - detectedTime).to.equal(60);
  });
});

describe("SLAs: penalties", () => {
  const confirmed = (penalty: RecordBody) => {
    const log = breached(penalty);
    return log.after(week + 1).tick();
  };

  it("reduce the score by a share: .94 × .9 = .846, and .849133 after one good day", () => {
    const of = (amount: string, goodDays: number) =>
      ({ status: "confirmed", penalty: JSON.stringify({ ...reduction, amount }), goodDays }) as Row<"breach">;
    const left = (...breaches: Row<"breach">[]) => {
      const { n, d } = scoreLeft(breaches);
      return Number((940_000_000n * n * 2n + d) / (2n * d));
    };
    expect([0, 1, 2, 15, 29, 30].map((day) => left(of("0.1", day)))).to.deep.equal([
      846_000_000, 849_133_333, 852_266_667, 893_000_000, 936_866_667, 940_000_000,
    ]);
    expect(left(of("0.1", 0), of("0.05", 0)), "together").to.equal(803_700_000);
    expect(left({ ...of("0.1", 0), status: "detected" })).to.equal(940_000_000);
  });

  it("decrease on each day whose own value meets the target", async () => {
    const log = confirmed(reduction);
    const before = await breachOf(log);
    expect(before.goodDays).to.equal(0);
    // These hires are on the day of the confirmation itself, which is not a day of recovery.
    hires(log, 2, true);
    const goodDays: number[] = [];
    const first = Math.floor((log.time - START) / DAY) + 1;
    for (let day = first; day < first + 4; day++) {
      goTo(log, START + day * DAY + HOUR);
      if (day !== first + 1) hires(log, 2, true);
      if (day === first + 2) hires(log, 1, false);
      goTo(log, START + (day + 1) * DAY + 4 * HOUR).tick();
      goodDays.push((await breachOf(log)).goodDays);
    }
    expect(goodDays, "a good day, a day without hires, a bad day, a good day").to.deep.equal([1, 1, 1, 2]);
    const { score, algorithmScore } = await stewardOf(log);
    expect(score).to.equal(Math.round((algorithmScore * (300 - 28)) / 300));
    expect((await breachOf(log)).closedTime).not.to.equal(null);
  });

  it("suspend 24 hours after their notice", async () => {
    const log = confirmed(suspension);
    const { confirmedTime } = await breachOf(log);
    const notice = confirmedTime ?? 0;
    const { suspensions = "" } = (await log.derive()).store.rows("sla").get(AGENT) ?? {};
    const at = (seconds: number) => suspendedUntil(suspensions, notice + seconds);
    const until = notice + DAY + 7 * DAY;
    expect([DAY - 1, DAY, 8 * DAY - 1, 8 * DAY].map(at)).to.deep.equal([null, until, until, null]);
    expect(suspendedUntil(`a 10 20\nb 15 40\nc 30 35`, 16), "the later end").to.equal(40);
  });

  it("share an amount among buyers by what they paid, rounded down", async () => {
    const log = promise(stewardLog(), success({ type: "financial", amount: "1", currency: "USDC" }));
    goTo(log, START + DAY);
    for (const [n, amount] of [100_000, 200_000, 400_000].entries())
      for (let times = 0; times < 10; times++)
        log.hire(AGENT, wallet(300 + n), { passed: times < 8, amount, latency_ms: 1 });
    log.after(HOUR).tick();
    const earlier = log.transfer(AGENT, wallet(300), 142_857);
    const earlierLog = log.lastLog;
    log.after(week + 1).tick();
    const { store } = await log.derive();
    expect(rows(store, "slaClaim").map(({ buyer, owed }) => [buyer, owed])).to.deep.equal([
      [wallet(300), 142_857n],
      [wallet(301), 285_714n],
      [wallet(302), 571_428n],
    ]);
    const { id, owed } = await breachOf(log);
    expect(owed).to.equal(999_999n);

    const pay = (tx: string, log_index: number, buyer = wallet(300)) =>
      log.record("sla_payment", AGENT, { breach: id, buyer, tx_hash: tx, log_index });
    pay(earlier, earlierLog);
    const wrong = log.transfer(AGENT, wallet(300), 142_856);
    pay(wrong, log.lastLog);
    const right = log.transfer(AGENT, wallet(300), 142_857);
    const at = log.lastLog;
    pay(right, at + 1);
    pay(right, at, wallet(301));
    pay(right, at, wallet(399));
    pay(right, at);
    pay(right, at);
    const none = (value: number) => `no such transfer of ${value} from the agent to the buyer is known`;
    expect(await reasonsOf(log, "sla_payment")).to.deep.equal([
      "this transfer is older than the debt",
      none(142_857),
      none(142_857),
      none(285_714),
      `the breach owes ${wallet(399)} nothing`,
      null,
      "what it owes this buyer was paid",
    ]);
    expect((await breachOf(log)).paid).to.equal(142_857n);

    // A relevant log has the transfers that payments of an SLA name, like the transfers that receipts name.
    const relevant = await deriveRelevant(await relevantOf(log));
    expect(rows(relevant, "breach").map(({ paid }) => paid)).to.deep.equal([142_857n]);
    expect(rows(relevant, "slaClaim")).to.deep.equal(rows((await log.derive()).store, "slaClaim"));

    // The harmed buyer gives a receipt for the same money, because it sold work to the agent. Then the money paid only
    // for that work.
    log.receipt(wallet(300), AGENT, { tx: right, amount: 142_857, log_index: at, buyer_signature: "0x01" });
    expect((await breachOf(log)).paid).to.equal(0n);
    pay(right, at);
    expect((await reasonsOf(log, "sla_payment")).at(-1)).to.equal("this transfer paid something else before");
  });

  it("share an amount only among buyers that paid before the breach was detected", async () => {
    const log = promise(stewardLog(), success({ type: "financial", amount: "1", currency: "USDC" }));
    goTo(log, START + DAY + 12 * HOUR);
    hires(log, 17, true);
    hires(log, 3, false);
    log.after(HOUR - 1).hire(AGENT, wallet(303));
    const unnamed = log.transfer(wallet(305), AGENT, 1_000_000_000, { authorized: true });
    log.after(1).tick();
    const { detectedTime } = await breachOf(log);
    expect(detectedTime).to.equal(log.time);
    // Now the agent knows of its debt, and buys from itself with another wallet.
    log.hire(AGENT, wallet(304), { amount: 1_000_000_000 });
    log.after(HOUR).hire(AGENT, wallet(304), { amount: 1_000_000_000 });
    // It also signs a receipt for a transfer that its other wallet made before.
    log.receipt(AGENT, wallet(305), { tx: unnamed, amount: 1_000_000_000 });
    log.after(week + 1).tick();
    const owed = rows((await log.derive()).store, "slaClaim").map((it) => [it.buyer, it.owed]);
    // 21 hires of one price: 7, 7, 6 and 1 of them.
    expect(owed).to.deep.equal([
      [wallet(300), 333_333n],
      [wallet(301), 333_333n],
      [wallet(302), 285_714n],
      [wallet(303), 47_619n],
    ]);
  });

  it("are not paid by a transfer that paid for a hire", async () => {
    const log = promise(stewardLog(), success({ type: "financial", amount: "3", currency: "USDC" }));
    goTo(log, START + DAY);
    hires(log, 30, false);
    log
      .after(HOUR)
      .tick()
      .after(week + 1)
      .tick();
    const { id } = await breachOf(log);
    const tx = log.transfer(AGENT, wallet(300), 1_000_000, { authorized: true });
    const at = log.lastLog;
    log.receipt(wallet(300), AGENT, { tx, amount: 1_000_000 });
    log.record("sla_payment", AGENT, { breach: id, buyer: wallet(300), tx_hash: tx, log_index: at });
    expect(await reasonsOf(log, "sla_payment")).to.deep.equal(["this transfer paid for a hire"]);
  });

  it("create no debt if all the money went back to the buyers", async () => {
    const log = promise(stewardLog(), success({ type: "financial", amount: "3", currency: "USDC" }));
    goTo(log, START + DAY);
    for (let n = 0; n < 21; n++) {
      const escrow = log.deposit(AGENT, wallet(300 + (n % 3)));
      log.delivered(escrow).refunded(escrow, wallet(300 + (n % 3)));
    }
    log
      .after(HOUR)
      .tick()
      .after(week + 1)
      .tick();
    const { status, owed } = await breachOf(log);
    expect([status, owed]).to.deep.equal(["confirmed", 0n]);
  });

  it("create no debt if nobody paid", async () => {
    const log = promise(
      stewardLog({ probers: 1 }),
      uptime({ type: "financial", amount: "100", currency: "USDC" }),
    );
    daysOf(log, 1, 1, () => "0".repeat(12));
    goTo(log, START + 2 * DAY + 4 * HOUR).tick();
    log.after(week + 1).tick();
    const breach = await breachOf(log);
    expect([breach.status, breach.owed]).to.deep.equal(["confirmed", 0n]);
  });

  it("keep badges away until the agent has thirty good days and a ruling `reinstated`", async () => {
    const penalty = { type: "badge_revocation", revoke: ["sla_compliant"] };
    const log = confirmed(penalty);
    const breach = await breachOf(log);
    expect([...revokedBadges([breach])]).to.deep.equal(["sla_compliant"]);
    expect([...revokedBadges([{ ...breach, goodDays: 30 }])]).to.deep.equal(["sla_compliant"]);
    log.record("sla_ruling", ARBITRATOR, { breach: breach.id, ruling: "reinstated", reasons: "good again" });
    const reinstated = await breachOf(log);
    expect([...revokedBadges([{ ...reinstated, goodDays: 29 }])]).to.deep.equal(["sla_compliant"]);
    expect([...revokedBadges([{ ...reinstated, goodDays: 30 }])]).to.deep.equal([]);
  });
});

describe("SLAs: uptime, hour by hour", () => {
  it("is breached by a day whose downtime is beyond the threshold, and closed by a day at target", async () => {
    const log = promise(stewardLog(), uptime());
    // On day 1 the host is down for an hour and a half: 270 of 288 slots are good.
    daysOf(log, 1, 1, (hour) =>
      hour === 40 ? "0".repeat(12) : hour === 41 ? `000000${"1".repeat(6)}` : up(),
    );
    goTo(log, START + 2 * DAY + 4 * HOUR).tick();
    const breach = await breachOf(log);
    expect(breach.value < 950_000_000n).to.equal(true);
    daysOf(log, 3, 1, up);
    goTo(log, START + 4 * DAY + 4 * HOUR).tick();
    const { store } = await log.derive();
    expect(stepsOf(store)).to.deep.equal(["detected", "closed"]);
    expect(rows(store, "guarantee")[0]).to.deep.include({ openBreach: null, fromDay: START / DAY + 4 });
  });

  it("is breached only if three quarters of a day have data", async () => {
    for (const [hours, count] of [
      [17, 0],
      [18, 1],
    ] as const) {
      const log = promise(stewardLog(), uptime());
      daysOf(log, 1, 1, (hour) => (hour - 24 < hours ? "0".repeat(12) : ".".repeat(12)));
      goTo(log, START + 2 * DAY + 4 * HOUR).tick();
      expect(rows((await log.derive()).store, "breach").length, `${hours} hours`).to.equal(count);
    }
  });
});

describe("SLAs: new versions", () => {
  const names = (store: MemoryStore) =>
    (store.rows("sla").get(AGENT)?.binding ?? "")
      .split("\n")
      .filter(Boolean)
      .map((id) => id.slice(AGENT.length + 1));

  it("keep the data of a guarantee that promises the same or more", async () => {
    const log = promise(stewardLog(), success());
    goTo(log, START + 5 * DAY);
    promise(log, success(reduction, { target: "0.99" }));
    const { store } = await log.tick().derive();
    const [guarantee] = rows(store, "guarantee");
    expect([rows(store, "guarantee").length, guarantee?.since, guarantee?.target]).to.deep.equal([
      1,
      START,
      990_000_000n,
    ]);
  });

  it("leave a guarantee binding for thirty more days if they weaken or drop it, or make its breach cheaper", async () => {
    const changes: RecordBody[][] = [
      [success(reduction, { target: "0.97" })],
      [success(reduction, { breach_threshold: "0.89" })],
      [success({ ...reduction, amount: "0.09" })],
      [success(suspension)],
      [uptime()],
      [],
    ];
    for (const guarantees of changes) {
      const log = promise(stewardLog(), success());
      const { time } = goTo(log, START + DAY);
      promise(log, ...guarantees);
      goTo(log, time + 30 * DAY - HOUR).tick();
      const then = names((await log.derive()).store);
      expect(then).to.deep.equal(["success_rate/30/0", ...(guarantees.length === 0 ? [] : [then[1]])]);
      goTo(log, time + 30 * DAY + HOUR).tick();
      expect(names((await log.derive()).store).length).to.equal(guarantees.length);
    }
  });

  it("do not change the terms of an open breach, and its guarantee binds until the breach is closed", async () => {
    const log = breached();
    promise(log);
    goTo(log, log.time + 40 * DAY).tick();
    const breach = await breachOf(log);
    expect([breach.status, breach.penalty]).to.deep.equal([
      "confirmed",
      '{"amount":"0.1","type":"trust_score_reduction"}',
    ]);
    expect(names((await log.derive()).store)).to.deep.equal(["success_rate/30/0"]);
  });

  it("are refused if more than 64 guarantees would bind at the same time", async () => {
    const log = stewardLog();
    for (let n = 0; n < 70; n++) {
      log.after(1);
      promise(log, success(reduction, { target: `0.${String(980 - n)}` }));
    }
    const { store } = await log.derive();
    expect(names(store).length).to.equal(64);
    expect((await reasonsOf(log, "sla")).at(-1)).to.equal("more than 64 guarantees would bind");
    // The last one that was accepted, unchanged. It binds no further guarantee.
    promise(log.after(1), success(reduction, { target: "0.917" }));
    expect((await reasonsOf(log, "sla")).at(-1)).to.equal(null);
    expect(names((await log.derive()).store)).to.deep.equal(names(store));
  });

  it("count only if they are newer than the last version", async () => {
    const log = stewardLog();
    const say = (issued_at: number, by = AGENT) =>
      log.record("sla", by, { agent_id: AGENT, version: "1", guarantees: [], issued_at });
    say(START);
    say(START);
    say(START + 10);
    say(START, wallet(300));
    log.record("sla", wallet(88), { agent_id: wallet(88), version: "1", guarantees: [], issued_at: START });
    expect(await reasonsOf(log, "sla")).to.deep.equal([
      null,
      `body.issued_at must be above ${START}`,
      "body.issued_at is later than the record itself",
      `signer must be the agent itself, ${AGENT}`,
      `body.agent_id ${wallet(88)} is no agent`,
    ]);
  });
});

describe("SLAs: days until a breach", () => {
  const trend = (metric: string, values: number[], current = values.at(-1) ?? 0, threshold = 900) => {
    let closes = "";
    for (const [n, value] of values.entries()) closes = withClose(closes, 100 + n, BigInt(value));
    return daysUntilBreach({ metric, closes, threshold: BigInt(threshold) }, BigInt(current));
  };
  it("are given after three days if the trend leads to a breach, rounded up", () => {
    expect(trend("uptime", [1000, 990])).to.equal(null);
    expect(trend("uptime", [1000, 990, 980])).to.equal(8);
    expect(trend("uptime", [1000, 990, 980], 981)).to.equal(9);
    expect(trend("uptime", [980, 990, 1000])).to.equal(null);
    expect(trend("uptime", [1000, 1000, 1000])).to.equal(null);
    expect(trend("latency_p99", [800, 820, 840])).to.equal(3);
    expect(trend("latency_p99", [840, 820, 800])).to.equal(null);
    expect(trend("uptime", [2000, 2000, 1000, 990, 980, 970, 960, 950, 940]), "the last seven").to.equal(4);
  });

  it("are null if the trend leads to a breach only after more than a century", () => {
    const falling = [50_000, 49_999, 49_998];
    expect(trend("uptime", falling, 49_998, 49_998 - 36_500)).to.equal(36_500);
    expect(trend("uptime", falling, 49_998, 49_998 - 36_501)).to.equal(null);
    // The highest threshold that a record can have. With latencies of 1, 1 and 2 ms its breach is 2 · 10¹² days away.
    const millisecond = 1_000_000_000;
    const slower = [millisecond, millisecond, 2 * millisecond];
    expect(trend("latency_p50", slower, 2 * millisecond, 999_999_999_999 * millisecond)).to.equal(null);
  });
});
