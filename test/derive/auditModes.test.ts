import { expect } from "chai";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { AUDITED, BUYER, HASHES, OTHER_HASHES, offer, SELLER, say, scene, tickHash } from "./auditScene.ts";
import { DAY, type EventLog, hireIdFor, wallet } from "./eventLog.ts";

const CAPABILITY = "text.translate";
const POOL_ID = `${AUDITED}/${CAPABILITY}`;
const MONTH = 30 * DAY;
/** Verdicts, and the work for new auditors, may come after a capability became mature. */
const SLOW = { verdictSeconds: 100 * DAY, disclosureSeconds: 200 * DAY, pairSeconds: 1 };
const reasons = [{ code: "other", detail: "" }];

const modeIn = (store: MemoryStore) => store.rows("auditMode").get(POOL_ID)?.mode ?? "bootstrap";
const reasonOf = (store: MemoryStore, hash: string) =>
  [...store.rows("record").values()].find((it) => it.hash === hash)?.reason ?? null;

/**
 * Answers some open assignments. The auditor with the most open assignments answers `most` of them. Of the other auditors,
 * the `rest` with the fewest verdicts answer one each.
 */
async function answer(log: EventLog, most: number, rest: number, verdict = "inconclusive"): Promise<void> {
  const { store } = await log.derive();
  const open = [...store.rows("auditAssignment").values()].filter((it) => it.verdict === null);
  const byAuditor = [...Map.groupBy(open, (it) => it.auditor).values()].sort((a, b) => b.length - a.length);
  const [own = [], ...others] = byAuditor;
  const saidBy = ([first]: typeof own) =>
    store.rows("auditShare").get(`${POOL_ID}/${first?.auditor}`)?.verdicts ?? 0;
  others.sort((a, b) => saidBy(a) - saidBy(b));
  const chosen = [...own.slice(0, most), ...others.flatMap((it) => it.slice(0, 1)).slice(0, rest)];
  expect(chosen.length).to.equal(most + rest);
  for (const { auditor, hire, round, attempt } of chosen) {
    const what = { hire, round, attempt, verdict, reasons, ...HASHES };
    log.record("audit_verdict", auditor as Address, what);
  }
}

/** A log of audited hires. Between the first assignment and the last tick are `seconds`. */
async function aged(
  log: EventLog,
  { seconds = MONTH, most = 2, rest = 3 }: { seconds?: number; most?: number; rest?: number } = {},
): Promise<EventLog> {
  for (let n = 0; n < 60; n++) log.hire(SELLER, wallet(300 + n), HASHES);
  log.after(60).tick(tickHash(1_000));
  const start = log.time;
  log.after(seconds - 60);
  await answer(log, most, rest);
  // Auditors need a success in the last 30 days.
  const { store } = await log.derive();
  for (const [n, { agent }] of [...store.rows("auditor").values()].entries())
    log.hire(agent as Address, wallet(400 + n));
  log.after(start + seconds - log.time).tick(tickHash(1_001));
  return log;
}

describe("a capability becomes mature", () => {
  const isMature = async (log: EventLog) => modeIn((await log.derive()).store) === "mature";

  for (const auditors of [9, 10])
    it(`${auditors === 10 ? "with" : "not with"} ${auditors} auditors in Tier 2`, async () => {
      const log = await aged(scene({ auditors, audit: SLOW }));
      expect(await isMature(log)).to.equal(auditors === 10);
    });

  for (const rings of [2, 3])
    it(`${rings === 3 ? "with" : "not with"} auditors of ${rings} clusters`, async () => {
      const log = scene({ auditors: 12, audit: SLOW });
      for (let n = 0; n < 12; n++) {
        log.transfer(wallet(70 + (n % rings)), wallet(100 + n), 900_000_000);
      }
      expect(await isMature(await aged(log))).to.equal(rings === 3);
    });

  for (const families of [2, 3])
    it(`${families === 3 ? "with" : "not with"} auditors of ${families} families, each without a cluster`, async () => {
      const log = scene({ auditors: 0, audit: SLOW });
      for (let n = 0; n < 12; n++) {
        const auditor = wallet(100 + n);
        log.transfer(wallet(70 + (n % families)), auditor, 1_000);
        log.hire(auditor, wallet(99), { amount: 1_000 });
        offer(log, auditor, { endpoint: `https://auditor-${n}.example` });
      }
      log.after(DAY).tick(tickHash(2));
      expect(await isMature(await aged(log))).to.equal(families === 3);
    });

  for (const seconds of [MONTH - 1, MONTH])
    it(`${seconds === MONTH ? "" : "not "}${seconds} seconds after the first assignment`, async () => {
      const log = await aged(scene({ auditors: 10, audit: SLOW }), { seconds });
      expect(await isMature(log)).to.equal(seconds === MONTH);
    });

  for (const [most, rest] of [
    [2, 3],
    [3, 4],
  ] as const)
    it(`${most === 2 ? "with" : "not with"} ${most} of ${most + rest} verdicts by one auditor`, async () => {
      const log = await aged(scene({ auditors: 10, audit: SLOW }), { most, rest });
      expect(await isMature(log)).to.equal(most === 2);
    });

  it("by the verdicts of the last 7 days only, with a strict limit", async () => {
    for (const [seconds, counts] of [
      [7 * DAY - 1, true],
      [7 * DAY, false],
    ] as const) {
      const log = await aged(scene({ auditors: 10, audit: SLOW }), { most: 4, rest: 0 });
      expect(await isMature(log)).to.equal(false);
      // Sixty seconds ago one auditor gave four verdicts. Later three auditors give one each. These count from the next tick on.
      log.after(seconds - 60 - 30).tick();
      await answer(log, 1, 2);
      log.after(30).tick();
      expect(await isMature(log)).to.equal(!counts);
    }
  });

  it("only at a tick after a verdict, and stays mature without a record of its operator", async () => {
    const log = await aged(scene({ auditors: 10, audit: SLOW }), { seconds: MONTH - 1 });
    log.after(DAY).tick();
    expect(await isMature(log)).to.equal(false);
    await answer(log, 0, 1);
    log.after(1).tick();
    expect(await isMature(log)).to.equal(true);
    for (let n = 0; n < 10; n++) offer(log, wallet(100 + n), { active: false, issued_at: 2 });
    await answer(log, 3, 0);
    log.after(60).tick();
    const { store } = await log.derive();
    expect(modeIn(store)).to.equal("mature");
    expect([...store.rows("auditModeChange").values()].map(({ from, to }) => [from, to])).to.deep.equal([
      ["bootstrap", "mature"],
    ]);
  });
});

describe("a mature capability", () => {
  const mature = () => aged(scene({ auditors: 10, audit: SLOW }));
  const mode = (log: EventLog, by: Address, justification: string, more: RecordBody = {}) =>
    log.record("audit_mode", by, { capability: CAPABILITY, mode: "bootstrap", justification, ...more });

  it("rolls back at once a hire that two auditors failed", async () => {
    const log = await mature();
    for (let n = 0; n < 2; n++) {
      const open = (await log.derive()).store.rows("auditAssignment");
      const last = [...open.values()].findLast((it) => it.verdict === null);
      const { hire = "", round, attempt, auditor } = last ?? {};
      const what = { hire, round: round ?? 0, attempt: attempt ?? 0, verdict: "fail", reasons, ...HASHES };
      log.record("audit_verdict", auditor as Address, what);
      log.after(60).tick(tickHash(2_000 + n));
    }
    const { store, agents } = await log.derive();
    const audit = [...store.rows("audit").values()].find((it) => it.status === "failed");
    expect(audit).to.include({ mode: "mature", decision: "rollback", decisionRecord: null });
    expect(store.rows("hire").get(audit?.hire ?? "")).to.include({ outcome: "failure", evidence: "audit" });
    expect(agents[SELLER]?.audit_pass_rate).to.equal(0);
  });

  it("rolls back at once a hire whose seller signed two versions", async () => {
    const log = await mature();
    log.hire(SELLER, BUYER, { hire_id: hireIdFor("one"), ...HASHES });
    log.receipt(SELLER, BUYER, { hire_id: hireIdFor("one"), ...OTHER_HASHES });
    const { store } = await log.derive();
    const failed = [...store.rows("audit").values()].filter((it) => it.status === "failed");
    expect(failed.map(({ reason, decision }) => [reason, decision])).to.deep.equal([
      ["equivocation", "rollback"],
    ]);
  });

  it("goes back to bootstrap only by a record of its operator, which counts once, and then starts again from zero", async () => {
    const log = await mature();
    const foreign = mode(log, wallet(23), "mine");
    const good = mode(log, AUDITED, "The auditors were one.");
    const again = mode(log, AUDITED, "Once more.");
    let { store } = await log.derive();
    expect(modeIn(store)).to.equal("bootstrap");
    expect([foreign, good, again].map((it) => reasonOf(store, it))).to.deep.equal([
      `signer ${wallet(23)} is no operator of audits`,
      null,
      `body.capability ${CAPABILITY} is in bootstrap`,
    ]);
    await answer(log, 0, 3);
    log.after(60).tick();
    expect(modeIn((await log.derive()).store)).to.equal("bootstrap");

    // The capability becomes mature a second time. Nobody can use the operator's first record again.
    await aged(log, { most: 2, rest: 3, seconds: 20 * DAY });
    await answer(log, 1, 3);
    log.after(10 * DAY).tick();
    await answer(log, 0, 3);
    log.after(60).tick();
    const replayed = log.replay(good);
    ({ store } = await log.derive());
    expect(modeIn(store)).to.equal("mature");
    expect(reasonOf(store, replayed)).to.equal("body.justification took the capability back before");
    const rows = [...store.rows("auditModeChange").values()];
    expect(rows.map(({ to, record }) => [to, record])).to.deep.equal([
      ["mature", null],
      ["bootstrap", good],
      ["mature", null],
    ]);
  });
});

describe("an operator's own judgement", () => {
  const judge = (log: EventLog, hire: string, round = 1, by = AUDITED) =>
    log.record("audit_judge", by, { hire, round, models: ["model-a", "model-b"] });
  const only = async (log: EventLog) => {
    const { store } = await log.derive();
    return { store, audit: [...store.rows("audit").values()][0] };
  };
  const waiting = async (seconds = DAY, more: Parameters<typeof scene>[0] = {}) => {
    const log = scene({ auditors: 0, ...more });
    log.hire(SELLER, BUYER, HASHES);
    log.after(60).tick(tickHash(5)).after(seconds).tick(tickHash(6));
    const { audit } = await only(log);
    return { log, hire: audit?.hire ?? "" };
  };

  it("counts if nobody was eligible for 24 hours until the last tick", async () => {
    for (const seconds of [DAY - 1, DAY]) {
      const { log, hire } = await waiting(seconds);
      log.after(100);
      const word = judge(log, hire);
      const { store, audit } = await only(log);
      expect(reasonOf(store, word) === null, `${seconds} s`).to.equal(seconds === DAY);
      expect(audit?.status).to.equal(seconds === DAY ? "assigned" : "assigning");
    }
  });

  it("comes only from the audit's operator, once, for the present round, and not about a hire of the operator", async () => {
    const { log, hire } = await waiting();
    const words = [
      judge(log, hire, 1, SELLER),
      judge(log, hire, 2),
      judge(log, `0x${"00".repeat(32)}`),
      judge(log, hire),
      judge(log, hire),
    ];
    const { store, audit } = await only(log);
    expect(words.map((it) => reasonOf(store, it))).to.deep.equal([
      `signer must be the audit's operator, ${AUDITED}`,
      "round 2 of this hire does not wait for an auditor",
      "round 1 of this hire does not wait for an auditor",
      null,
      "round 1 of this hire does not wait for an auditor",
    ]);
    expect(audit?.status).to.equal("assigned");
    expect([...store.rows("auditAssignment").values()][0]).to.include({
      auditorType: "operator-issued",
      auditor: AUDITED,
      models: "model-a\nmodel-b",
    });

    const own = scene({ auditors: 0 });
    own.hire(SELLER, AUDITED, HASHES);
    own.after(60).tick(tickHash(5)).after(DAY).tick(tickHash(6));
    const refused = judge(own, (await only(own)).audit?.hire ?? "");
    expect(reasonOf((await only(own)).store, refused)).to.equal("its operator is on a side of the hire");
  });

  it("never confirms a fail that the operator itself gave", async () => {
    const { log, hire } = await waiting();
    for (const [n, status] of ["assigning", "assigning", "inconclusive"].entries()) {
      judge(log, hire, n + 1);
      await say(log, "fail");
      expect((await only(log)).audit?.status).to.equal(status);
      log
        .after(60)
        .tick(tickHash(10 + n))
        .after(DAY)
        .tick(tickHash(20 + n));
    }
  });

  it("is confirmed by a drawn auditor", async () => {
    const { log, hire } = await waiting();
    for (const n of [1, 2]) {
      judge(log, hire, n);
      await say(log, "fail");
      log
        .after(60)
        .tick(tickHash(10 + n))
        .after(DAY)
        .tick(tickHash(20 + n));
    }
    log.hire(wallet(100), wallet(99));
    log.record("auditor", wallet(100), {
      ...{ agent_id: wallet(100), operator: AUDITED, capabilities: [CAPABILITY], active: true, issued_at: 1 },
      endpoint: "https://auditor.example",
    });
    log.after(60).tick(tickHash(30));
    await say(log, "fail");
    const { audit, store } = await only(log);
    expect(audit).to.include({ status: "failed", verdicts: "fff", operatorFails: 2, mode: "bootstrap" });
    expect(store.rows("auditOperator").get(AUDITED)).to.include({ issued: 2, failed: 1, unassigned: 0 });
  });

  it("has no effect when the capability is mature", async () => {
    const log = await aged(scene({ auditors: 10, audit: { ...SLOW, pairSeconds: 400 * DAY } }));
    log.after(40 * DAY);
    log.hire(SELLER, wallet(600), HASHES);
    log
      .after(60)
      .tick(tickHash(7))
      .after(2 * DAY)
      .tick(tickHash(8));
    const { store } = await log.derive();
    const last = [...store.rows("audit").values()].at(-1);
    expect([modeIn(store), last?.status]).to.deep.equal(["mature", "assigning"]);
    const word = judge(log, last?.hire ?? "");
    expect(reasonOf((await log.derive()).store, word)).to.equal(
      `${CAPABILITY} is mature: its auditors judge alone`,
    );
  });
});

describe("a challenged hire that is judged again", () => {
  it("changes nothing for its seller, and shows whether the auditors agree with the operator's decision", async () => {
    for (const [decision, verdicts, agreed, differed] of [
      ["rollback", ["fail", "fail"], 1, 0],
      ["dismiss", ["fail", "fail"], 0, 1],
      ["rollback", ["pass"], 0, 1],
      ["dismiss", ["pass"], 1, 0],
    ] as const) {
      const log = scene({ auditors: 10, audit: { ...SLOW, recheckPpm: 0 } });
      log.hire(SELLER, BUYER, HASHES);
      log.after(60).tick(tickHash(1_000));
      for (let n = 0; n < 2; n++) {
        await say(log, "fail");
        log.after(60).tick(tickHash(1_001 + n));
      }
      const [first] = [...(await log.derive()).store.rows("audit").values()];
      const hire = first?.hire ?? "";
      const early = log.record("audit_history", AUDITED, { hire });
      log.record("audit_actuation", AUDITED, { hire, decision, reasons });
      const bootstrap = log.record("audit_history", AUDITED, { hire });
      await aged(log);
      const { agents } = await log.derive();
      const foreign = log.record("audit_history", wallet(23), { hire });
      const good = log.record("audit_history", AUDITED, { hire });
      const again = log.record("audit_history", AUDITED, { hire });
      for (const [n, verdict] of verdicts.entries()) {
        log.after(60).tick(tickHash(3_000 + n));
        const { store } = await log.derive();
        const last = [...store.rows("auditAssignment").values()].findLast(
          (it) => it.hire === hire && it.verdict === null,
        );
        const { round = 0, attempt = 0, auditor } = last ?? {};
        expect(round).to.equal(3 + n);
        const what = { hire, round, attempt, verdict, reasons, ...HASHES };
        log.record("audit_verdict", auditor as Address, what);
      }
      log.after(60).tick(tickHash(4_000));
      const after = await log.derive();
      const { store } = after;
      expect([early, bootstrap, foreign, good, again].map((it) => reasonOf(store, it))).to.deep.equal([
        "its operator has made no decision about it",
        `${CAPABILITY} is in bootstrap`,
        `signer must be the audit's operator, ${AUDITED}`,
        null,
        "it was judged again before",
      ]);
      const end = verdicts.length === 2 ? "failed" : "passed";
      expect(store.rows("audit").get(`${hire}/history`)).to.include({ status: end, counted: null });
      expect(store.rows("audit").get(hire)).to.include({ status: "failed", decision, history: end });
      expect(store.rows("auditOperator").get(AUDITED)).to.include({
        historyAgreed: agreed,
        historyDiffered: differed,
      });
      expect(after.agents[SELLER]).to.deep.equal(agents[SELLER]);
    }
  });
});
