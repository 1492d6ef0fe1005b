import { expect } from "chai";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { linesOf } from "tallystick-derive/steward/sla/lines";
import { revokedBadges, suspendedUntil } from "tallystick-derive/steward/sla/penalties";
import type { Row } from "tallystick-derive/tables";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, HOUR, START, wallet } from "../eventLog.ts";
import { AGENT, ARBITRATOR, goTo, reasonsOf, stewardLog } from "./stewardScene.ts";

const share = (window: number, penalty: RecordBody): RecordBody => ({
  ...{
    metric: "success_rate",
    target: "0.98",
    measurement_window: `${window} days`,
    breach_threshold: "0.9",
  },
  penalty,
});
const GUARANTEES: RecordBody[] = [
  share(7, { type: "temporary_suspension", duration: "7 days" }),
  share(30, { type: "financial", amount: "9", currency: "USDC" }),
  share(90, { type: "trust_score_reduction", amount: "0.1" }),
  {
    ...{ metric: "latency_p99", target: "5000", unit: "milliseconds", breach_threshold: "7500" },
    measurement_window: "30 days",
    penalty: { type: "badge_revocation", revoke: ["sla_compliant"] },
  },
];

/** Every possible state of an SLA, in one story. */
describe("the life of an SLA", () => {
  const log = stewardLog();
  let store: MemoryStore;
  const day = async (n: number, hour = 12): Promise<void> => {
    ({ store } = await goTo(log, START + n * DAY + hour * HOUR)
      .tick()
      .derive());
  };
  const sell = (count: number, passed: boolean, latency_ms = 100) => {
    for (let n = 0; n < count; n++) log.hire(AGENT, wallet(300 + (n % 3)), { passed, latency_ms });
  };
  const breaches = () => [...store.rows("breach").values()] as Row<"breach">[];
  const breachOf = (metric: string, days: number) =>
    breaches().find((it) => it.metric === metric && it.days === days) as Row<"breach">;
  const stepsOf = ({ id }: Row<"breach">) =>
    [...store.rows("breachStep").values()].filter(({ breach }) => breach === id).map(({ step }) => step);
  const status = () => store.rows("sla").get(AGENT)?.status;
  const score = () => store.rows("steward").get(AGENT) as Row<"steward">;
  const suspended = (time: number) => suspendedUntil(store.rows("sla").get(AGENT)?.suspensions ?? "", time);

  it("is declared, measured, and at risk before it is breached", async () => {
    log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees: GUARANTEES, issued_at: log.time });
    await day(0);
    expect([status(), linesOf(store.rows("sla").get(AGENT)?.binding ?? "").length]).to.deep.equal([
      "compliant",
      4,
    ]);
    goTo(log, START + DAY + HOUR);
    sell(40, true);
    await day(1);
    expect([status(), breaches().length]).to.deep.equal(["compliant", 0]);
    goTo(log, START + 2 * DAY + HOUR);
    sell(2, false);
    await day(2);
    expect([status(), breaches().length]).to.deep.equal(["at_risk", 0]);
  });

  it("is breached in all guarantees at once, each with its notice", async () => {
    goTo(log, START + 3 * DAY + HOUR);
    sell(9, false, 9_000);
    await day(3);
    expect(status()).to.equal("breached");
    expect(breaches().map(stepsOf)).to.deep.equal([["detected"], ["detected"], ["detected"], ["detected"]]);
    const { score: before, algorithmScore } = score();
    expect(before, "the score before a breach is confirmed").to.equal(algorithmScore);
    expect(suspended(log.time)).to.equal(null);
  });

  it("has one dispute for each breach, then a ruling; an upheld breach suspends the agent a day later", async () => {
    const [first, second] = [breachOf("success_rate", 7), breachOf("success_rate", 90)];
    goTo(log, START + 4 * DAY);
    for (const { id } of [first, first, second])
      log.record("sla_dispute", AGENT, {
        ...{ breach: id, agent_id: AGENT, claim: "the registry was away" },
        ...{ evidence: ["https://status.example/1"], requested_remedy: "remove_penalty" },
      });
    expect(await reasonsOf(log, "sla_dispute")).to.deep.equal([null, "the breach was disputed before", null]);
    goTo(log, START + 5 * DAY);
    const rule = ({ id }: Row<"breach">, ruling: string) =>
      log.record("sla_ruling", ARBITRATOR, { breach: id, ruling, reasons: "as measured" });
    rule(first, "upheld");
    const ruled = log.time;
    rule(second, "overturned");
    await day(5, 1);
    expect(stepsOf(first)).to.deep.equal(["detected", "disputed", "upheld", "confirmed"]);
    expect([breachOf("success_rate", 90).status, stepsOf(second).at(-1)]).to.deep.equal([
      "overturned",
      "overturned",
    ]);
    expect(suspended(ruled + DAY - 1)).to.equal(null);
    expect(suspended(ruled + DAY)).to.equal(ruled + 8 * DAY);
    expect(suspended(ruled + 8 * DAY)).to.equal(null);
  });

  it("has breaches confirmed without a dispute when the time is over: the agent owes buyers money and loses a badge", async () => {
    await day(10, 13);
    const [money, badge] = [breachOf("success_rate", 30), breachOf("latency_p99", 30)];
    expect([stepsOf(money), stepsOf(badge)]).to.deep.equal([
      ["detected", "confirmed"],
      ["detected", "confirmed"],
    ]);
    // 51 hires of the same price by three buyers: 18, 17 and 16 of them.
    const claims = [...store.rows("slaClaim").values()].filter(({ breach }) => breach === money.id);
    const owed = claims.map((it) => Number(it.owed)).sort((a, b) => b - a);
    expect(owed).to.deep.equal([3_176_470, 3_000_000, 2_823_529]);
    expect([...revokedBadges(breaches())]).to.deep.equal(["sla_compliant"]);

    for (const { buyer, owed: amount } of claims) {
      const tx_hash = log.transfer(AGENT, buyer as `0x${string}`, amount);
      const log_index = log.lastLog;
      log.record("sla_payment", AGENT, { breach: money.id, buyer, tx_hash, log_index });
    }
    await day(11);
    const paid = breachOf("success_rate", 30);
    expect([paid.paid, stepsOf(paid).filter((it) => it === "paid").length]).to.deep.equal([paid.owed, 3]);
  });

  it("recovers: each breach closes after a day at target, and the badge returns after thirty such days and a ruling", async () => {
    for (let n = 12; n < 46; n++) {
      goTo(log, START + n * DAY + HOUR);
      sell(1, true);
      log.after(HOUR).tick();
    }
    await day(46);
    for (const it of breaches()) expect(it.closedTime, it.id).to.be.a("number");
    const badge = breachOf("latency_p99", 30);
    expect(badge.goodDays).to.equal(30);
    expect([...revokedBadges(breaches())], "without a ruling").to.deep.equal(["sla_compliant"]);
    log.record("sla_ruling", ARBITRATOR, { breach: badge.id, ruling: "reinstated", reasons: "thirty days" });
    await day(47);
    expect([...revokedBadges(breaches())]).to.deep.equal([]);
    expect(stepsOf(badge)).to.deep.equal(["detected", "confirmed", "closed", "reinstated"]);
    expect(status()).to.equal("compliant");
    expect(score().score).to.equal(score().algorithmScore);
  });
});
