import { expect } from "chai";
import { isWeaker, termsOf } from "tallystick-derive/steward/sla/terms";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseSla } from "tallystick-protocol/records/sla";
import { DAY, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import { AGENT, ARBITRATOR, BUYER, goTo, reasonsOf, stewardLog } from "./stewardScene.ts";

const week = 7 * DAY;
const financial = { type: "financial", amount: "3", currency: "USDC" };
const success = (penalty: RecordBody, more: RecordBody = {}): RecordBody => ({
  ...{ metric: "success_rate", target: "0.98", measurement_window: "30 days", breach_threshold: "0.9" },
  ...{ penalty, ...more },
});
const latency = (target: string, breach_threshold: string): RecordBody => ({
  ...{ metric: "latency_p99", target, unit: "milliseconds", measurement_window: "7 days" },
  ...{ breach_threshold, penalty: financial },
});

function promise(log: EventLog, guarantees: RecordBody[], version = "1"): string {
  return log.record("sla", AGENT, { agent_id: AGENT, version, guarantees, issued_at: log.time });
}

/** A log with a breach that three buyers found, and the breach. */
async function breached(penalty: RecordBody = financial): Promise<{ log: EventLog; breach: Row<"breach"> }> {
  const log = stewardLog();
  promise(log, [success(penalty)]);
  goTo(log, START + DAY);
  for (let n = 0; n < 21; n++) log.hire(AGENT, wallet(300 + (n % 3)), { passed: n > 9 });
  log.after(HOUR).tick();
  const [breach] = (await log.derive()).store.rows("breach").values();
  return { log, breach: breach as Row<"breach"> };
}

type Disputed = { by?: Address; agent?: Address };
const dispute = (log: EventLog, breach: string, { by = AGENT, agent }: Disputed = {}) =>
  log.record("sla_dispute", by, {
    ...{ breach, agent_id: agent ?? by, claim: "no", evidence: [], requested_remedy: "remove_penalty" },
  });
const rule = (log: EventLog, breach: string, ruling: string, excuse?: string) =>
  log.record("sla_ruling", ARBITRATOR, { breach, ruling, reasons: "why", ...(excuse && { excuse }) });
const pay = (log: EventLog, breach: string, { by = AGENT, buyer = wallet(300), value = 1_000_000 } = {}) => {
  const tx_hash = log.transfer(AGENT, buyer, value);
  return log.record("sla_payment", by, { breach, buyer, tx_hash, log_index: log.lastLog });
};

describe("the records of an SLA", () => {
  it("are refused if they are not by the breach's agent, about that agent and about a breach that exists", async () => {
    const { log, breach } = await breached();
    const missing = `brch_${"0".repeat(26)}`;
    dispute(log, missing);
    dispute(log, breach.id, { by: BUYER, agent: AGENT });
    dispute(log, breach.id, { by: AGENT, agent: BUYER });
    expect(await reasonsOf(log, "sla_dispute")).to.deep.equal([
      `there is no breach ${missing}`,
      `signer and body.agent_id must be the breach's agent, ${AGENT}`,
      `signer and body.agent_id must be the breach's agent, ${AGENT}`,
    ]);
    rule(log, missing, "upheld");
    expect(await reasonsOf(log, "sla_ruling")).to.deep.equal([`there is no breach ${missing}`]);
    pay(log, missing);
    pay(log, breach.id, { by: BUYER });
    pay(log, breach.id);
    expect(await reasonsOf(log, "sla_payment")).to.deep.equal([
      `there is no breach ${missing}`,
      `signer must be the breach's agent, ${AGENT}`,
      `the breach owes ${wallet(300)} nothing`,
    ]);
  });

  it("are refused after the breach was overturned: its second ruling, a dispute, and a payment", async () => {
    const { log, breach } = await breached();
    log.after(week + 1).tick();
    rule(log, breach.id, "overturned", "natural_disaster");
    rule(log, breach.id, "overturned");
    dispute(log, breach.id);
    pay(log, breach.id);
    expect(await reasonsOf(log, "sla_ruling")).to.deep.equal([
      null,
      "a breach that is overturned cannot be overturned now",
    ]);
    expect(await reasonsOf(log, "sla_dispute")).to.deep.equal(["the time for a dispute is over"]);
    expect(await reasonsOf(log, "sla_payment")).to.deep.equal(["the breach was overturned"]);
    const { store } = await log.derive();
    expect(store.rows("breach").get(breach.id)).to.include({ excuse: "natural_disaster", owed: 0n });
  });

  it("leave what was paid before the breach was overturned", async () => {
    const { log, breach } = await breached();
    log.after(week + 1).tick();
    pay(log, breach.id);
    rule(log, breach.id, "overturned");
    const { store } = await log.derive();
    expect(store.rows("breach").get(breach.id)).to.include({ owed: 1_000_000n, paid: 1_000_000n });
  });

  it("are not paid by a transfer from or to an account whose address only ends like the right one", async () => {
    const { log, breach } = await breached();
    log.after(week + 1).tick();
    const twin = (address: string) => `0x1${address.slice(3)}` as `0x${string}`;
    const tx_hash = log.transfer(twin(AGENT), wallet(300), 1_000_000);
    const told = { breach: breach.id, buyer: wallet(300), tx_hash };
    log.record("sla_payment", AGENT, { ...told, log_index: log.lastLog });
    log.transfer(AGENT, twin(wallet(300)), 1_000_000, { tx: tx_hash });
    log.record("sla_payment", AGENT, { ...told, log_index: log.lastLog });
    log.transfer(AGENT, wallet(300), 1_000_000, { tx: tx_hash });
    log.record("sla_payment", AGENT, { ...told, log_index: log.lastLog });
    const none = "no such transfer of 1000000 from the agent to the buyer is known";
    expect(await reasonsOf(log, "sla_payment")).to.deep.equal([none, none, null]);
  });

  it("make rows with everything that the SLA says, and later versions keep its first day", async () => {
    const log = stewardLog();
    promise(log, [success(financial)]);
    const first = (await log.derive()).store;
    const guarantee = {
      ...{ agent: AGENT, metric: "success_rate", days: 30, target: 980_000_000n, threshold: 900_000_000n },
      ...{ penalty: '{"amount":"3","currency":"USDC","type":"financial"}', since: START },
      ...{ fromDay: START / DAY + 1, closedDay: START / DAY, boundUntil: null, openBreach: null },
      ...{ lastBreach: null, current: null, status: "compliant", closes: "", daysUntilBreach: null },
    };
    expect([...first.rows("guarantee").values()]).to.deep.equal([
      { ...guarantee, id: `${AGENT}/success_rate/30/0` },
    ]);
    goTo(log, START + 2 * DAY);
    const record = promise(log, [success(financial), latency("5000", "7500")], "2");
    const { store } = await log.derive();
    const { body = "", ...sla } = store.rows("sla").get(AGENT) ?? {};
    expect(sla).to.deep.equal({
      ...{ id: AGENT, record, version: "2", issuedAt: log.time, time: log.time, firstDay: START / DAY },
      ...{ made: 2, binding: `${AGENT}/success_rate/30/0\n${AGENT}/latency_p99/7/1`, breaches: "" },
      ...{ status: "compliant", suspensions: "", lastConfirmed: null },
    });
    expect(JSON.parse(body)).to.deep.include({ agent_id: AGENT, version: "2" });
  });

  it("make a row of a breach with the terms at that time, and one row for each step", async () => {
    const { log, breach } = await breached();
    const detected = log.events.at(-1);
    const decidedBy = breach.detectedTime + week;
    expect(breach).to.deep.include({
      ...{ agent: AGENT, guarantee: `${AGENT}/success_rate/30/0`, metric: "success_rate", days: 30 },
      ...{ target: 980_000_000n, threshold: 900_000_000n, value: 523_809_524n, status: "detected" },
      ...{ fromDay: START / DAY + 1, toDay: START / DAY + 1, detectedBlock: detected?.block, decidedBy },
      ...{ detectedTime: detected?.time, dispute: null, ruling: null, excuse: null, confirmedTime: null },
      ...{ closedTime: null, goodDays: 0, checkedDay: START / DAY + 1, isReinstated: false, owed: 0n },
      ...{ paid: 0n, steps: 1 },
    });
    const disputed = dispute(log, breach.id);
    const ruled = rule(log, breach.id, "upheld");
    const { store } = await log.derive();
    expect(store.rows("breach").get(breach.id)).to.include({ dispute: disputed, ruling: ruled, steps: 4 });
    const of = { breach: breach.id, agent: AGENT };
    expect([...store.rows("breachStep").values()]).to.deep.equal(
      [
        { step: "detected", record: null, block: detected?.block, time: detected?.time },
        { step: "disputed", record: disputed, block: log.block, time: log.time },
        { step: "upheld", record: ruled, block: log.block, time: log.time },
        { step: "confirmed", record: null, block: log.block, time: log.time },
      ].map((it, n) => ({ id: `${breach.id}/${n}`, ...of, ...it })),
    );
    expect([...store.rows("slaClaim").values()][0]).to.deep.equal({
      ...{ id: `${breach.id}/${wallet(300)}`, breach: breach.id, buyer: wallet(300), owed: 1_000_000n },
      payment: null,
    });
  });
});

describe("a new guarantee", () => {
  const terms = (guarantee: RecordBody) => {
    const body = { type: "sla", ledger: "local", agent_id: AGENT, version: "1", issued_at: 1 };
    const [first] = parseSla({ ...body, guarantees: [guarantee] }).guarantees;
    return termsOf(first as NonNullable<typeof first>);
  };
  const suspension = (days: number) => ({ type: "temporary_suspension", duration: `${days} days` });
  const reduction = (amount: string) => ({ type: "trust_score_reduction", amount });
  const badges = (...revoke: string[]) => ({ type: "badge_revocation", revoke });
  const money = (amount: string) => ({ ...financial, amount });

  it("is weaker if its target or threshold is worse", () => {
    const weaker = (now: RecordBody, than: RecordBody) => isWeaker(terms(now), terms(than));
    const of = (target: string, breach_threshold: string) => success(financial, { target, breach_threshold });
    for (const [target, threshold, expected] of [
      ["0.98", "0.9", false],
      ["0.99", "0.95", false],
      ["0.979999999", "0.9", true],
      ["0.98", "0.899999999", true],
      ["0.99", "0.8", true],
    ] as const)
      expect(weaker(of(target, threshold), of("0.98", "0.9")), `${target} ${threshold}`).to.equal(expected);
    for (const [target, threshold, expected] of [
      ["5000", "7500", false],
      ["4000", "7000", false],
      ["5000.1", "7500", true],
      ["5000", "7500.1", true],
    ] as const)
      expect(weaker(latency(target, threshold), latency("5000", "7500")), target).to.equal(expected);
  });

  it("is weaker if its penalty is smaller, or of another kind", () => {
    const rows: [now: RecordBody, than: RecordBody, isWeaker: boolean][] = [
      [money("3"), money("3"), false],
      [money("2.999999"), money("3"), true],
      [money("3.1"), money("3"), false],
      [reduction("0.1"), reduction("0.1"), false],
      [reduction("0.09"), reduction("0.1"), true],
      [reduction("0.2"), reduction("0.1"), false],
      [suspension(7), suspension(7), false],
      [suspension(6), suspension(7), true],
      [suspension(8), suspension(7), false],
      [badges("verified"), badges("verified"), false],
      [badges("verified", "sla_compliant"), badges("verified"), false],
      [badges("verified"), badges("sla_compliant", "verified"), true],
      [badges("verified"), badges("sla_compliant"), true],
    ];
    const kinds = [money("3"), reduction("1"), suspension(90), badges("verified", "sla_compliant")];
    for (const now of kinds) for (const than of kinds) if (now !== than) rows.push([now, than, true]);
    for (const [now, than, expected] of rows)
      expect(
        isWeaker(terms(success(now)), terms(success(than))),
        `${JSON.stringify(now)} in place of ${JSON.stringify(than)}`,
      ).to.equal(expected);
  });
});
