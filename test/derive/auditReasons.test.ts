import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import {
  AUDITED,
  BUYER,
  HASHES,
  OTHER_HASHES,
  offer,
  only,
  SELLER,
  say,
  scene,
  tickHash,
} from "./auditScene.ts";
import { DAY, type EventLog, hireIdFor, wallet } from "./eventLog.ts";

const OPERATOR = wallet(20);
const reasons = [{ code: "other", detail: "" }];
const nothing = `0x${"00".repeat(32)}`;

/** A log with a hire whose audit has an auditor, and the hire. */
async function drawn(log = scene({ auditors: 8 })): Promise<{ log: EventLog; hire: string }> {
  log.hire(SELLER, BUYER, { hire_id: hireIdFor("one"), ...HASHES });
  log.after(60).tick(tickHash(1_000));
  return { log, hire: (await only(log)).audit.hire };
}

async function failed(log?: EventLog): Promise<{ log: EventLog; hire: string }> {
  const audited = await drawn(log);
  for (let n = 0; n < 2; n++) {
    await say(audited.log, "fail");
    audited.log.after(60).tick(tickHash(1_001 + n));
  }
  return audited;
}

/** Takes the operator of the audits out of the parameters. */
function drop(log: EventLog): void {
  log.record("params", OPERATOR, { version: 2, operator: OPERATOR, audit: { operators: {} } });
}

async function reasonsOf(log: EventLog, words: readonly string[]): Promise<(string | null | undefined)[]> {
  const rows = [...(await log.derive()).store.rows("record").values()];
  return words.map((word) => rows.find(({ hash }) => hash === word)?.reason);
}

const actuation = (log: EventLog, hire: string, { by = AUDITED, decision = "rollback" } = {}) =>
  log.record("audit_actuation", by, { hire, decision, reasons });
const history = (log: EventLog, hire: string, by = AUDITED) => log.record("audit_history", by, { hire });
const judge = (log: EventLog, hire: string, round = 1) =>
  log.record("audit_judge", AUDITED, { hire, round, models: ["model-a"] });

describe("a record of audits that does not count says why", () => {
  it("if it is an offer of somebody else, to nobody, or not newer than the last", async () => {
    const log = scene({ auditors: 1 });
    const offered = (by: `0x${string}`, more: RecordBody) => {
      const body = { operator: AUDITED, capabilities: ["text.translate"], active: true, issued_at: 2 };
      return log.record("auditor", by, {
        ...{ ...body, agent_id: wallet(100), endpoint: "https://auditor.example", ...more },
      });
    };
    const words = [
      offered(wallet(101), {}),
      offered(wallet(100), { operator: wallet(23) }),
      offered(wallet(100), { issued_at: 1 }),
      offered(wallet(100), {}),
    ];
    expect(await reasonsOf(log, words)).to.deep.equal([
      `signer must be the agent itself, ${wallet(100)}`,
      `body.operator ${wallet(23)} is no operator of audits`,
      "body.issued_at must be above 1",
      null,
    ]);
  });

  it("if it is a verdict about an assignment that is over, or for an operator that has left", async () => {
    const { log } = await drawn();
    const { last } = await only(log);
    const verdict = () => {
      const { hire, round, attempt, auditor } = last;
      const body = { hire, round, attempt, verdict: "pass", reasons, ...HASHES };
      return log.record("audit_verdict", auditor as `0x${string}`, body);
    };
    log.after(DAY).tick(tickHash(1_001));
    log.after(60).tick(tickHash(1_002));
    const late = verdict();
    expect((await only(log)).audit.attempt).to.equal(2);
    const { log: other } = await drawn();
    drop(other);
    const left = await say(other, "pass");
    expect(await reasonsOf(log, [late])).to.deep.equal(["the assignment is over"]);
    expect(await reasonsOf(other, [left])).to.deep.equal([`${AUDITED} is no operator of audits`]);
  });

  it("if it is a decision about a hire that did not fail, by somebody else, or about a decided hire", async () => {
    const { log, hire } = await drawn();
    const early = [actuation(log, nothing), actuation(log, hire)];
    await say(log, "fail");
    log.after(60).tick(tickHash(1_001));
    await say(log, "fail");
    const words = [
      ...early,
      actuation(log, hire, { by: SELLER }),
      actuation(log, hire),
      actuation(log, hire),
    ];
    expect(await reasonsOf(log, words)).to.deep.equal([
      "no audit of this hire has failed",
      "no audit of this hire has failed",
      `signer must be the audit's operator, ${AUDITED}`,
      null,
      "it was decided before: rollback",
    ]);
    const gone = await failed();
    drop(gone.log);
    expect(await reasonsOf(gone.log, [actuation(gone.log, gone.hire)])).to.deep.equal([
      `${AUDITED} is no operator of audits`,
    ]);
  });

  it("if it is a decision about a hire whose buyer had already taken the money back", async () => {
    const log = scene({ auditors: 6, audit: { ratePpm: 0 } });
    log.listing(SELLER, "text.translate", {
      ...{ payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: AUDITED } },
    });
    const id = log.after(DAY).deposit(SELLER, BUYER);
    log.receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
    log.delivered(id).refunded(id, BUYER);
    log.after(60).tick(tickHash(1_000));
    for (let n = 0; n < 2; n++) {
      await say(log, "fail");
      log.after(60).tick(tickHash(1_001 + n));
    }
    expect((await only(log)).audit).to.include({ status: "failed", cause: "contested" });
    expect(await reasonsOf(log, [actuation(log, id)])).to.deep.equal([
      "its buyer had taken the money back before, so there is nothing to decide",
    ]);
  });

  it("if it asks for a second audit of a hire that did not fail, that failed by the rules, or of an operator that has left", async () => {
    const { log, hire } = await drawn();
    const early = [history(log, nothing), history(log, hire)];
    expect(await reasonsOf(log, early)).to.deep.equal(Array(2).fill("no audit of this hire has failed"));

    const equivocal = await drawn();
    equivocal.log.receipt(SELLER, BUYER, { hire_id: hireIdFor("one"), ...OTHER_HASHES });
    actuation(equivocal.log, equivocal.hire, { decision: "dismiss" });
    expect(await reasonsOf(equivocal.log, [history(equivocal.log, equivocal.hire)])).to.deep.equal([
      "it failed by the rules alone: equivocation",
    ]);

    const gone = await failed();
    actuation(gone.log, gone.hire);
    drop(gone.log);
    expect(await reasonsOf(gone.log, [history(gone.log, gone.hire)])).to.deep.equal([
      `${AUDITED} is no operator of audits`,
    ]);
  });

  it("if the operator would judge too early, a second time in a round, or after it has left", async () => {
    const waiting = async () => {
      const log = scene({ auditors: 0, audit: { maxAttempts: 3 } });
      log.hire(SELLER, BUYER, HASHES);
      log.after(60).tick(tickHash(5));
      return { log, hire: (await only(log)).audit.hire };
    };
    const { log, hire } = await waiting();
    const early = judge(log, hire);
    log.after(DAY).tick(tickHash(6));
    const good = judge(log, hire);
    await say(log, "inconclusive");
    log.after(60).tick(tickHash(7)).after(DAY).tick(tickHash(8));
    const again = judge(log, hire);
    expect(await reasonsOf(log, [early, good, again])).to.deep.equal([
      "the round has waited for an auditor for less than 86400 seconds",
      null,
      "its operator took this round before",
    ]);
    const gone = await waiting();
    gone.log.after(DAY).tick(tickHash(6));
    drop(gone.log);
    expect(await reasonsOf(gone.log, [judge(gone.log, gone.hire)])).to.deep.equal([
      `${AUDITED} is no operator of audits`,
    ]);
  });
});

describe("the rows of audits", () => {
  it("have everything that is known of an audit, its assignments and its auditor", async () => {
    const { log } = await drawn(scene({ auditors: 1 }));
    const tick = log.events.at(-1);
    const receipt = log.events.findLast((it) => it.kind === "record");
    const { audit, last, store } = await only(log);
    const [block, time] = [tick?.block, tick?.time];
    const paid = receipt?.kind === "record" ? String(receipt.body.tx_hash) : "";
    const hire = audit.hire;
    expect(hire.startsWith(paid)).to.equal(true);
    expect(audit).to.deep.equal({
      ...{ id: hire, hire, operator: AUDITED, capability: "text.translate", verificationVersion: "v0" },
      ...{ seller: SELLER, buyer: BUYER, amount: 500_000n, isDisclosed: true, ppm: 1_000_000 },
      ...{ receipt: receipt?.kind === "record" ? receipt.hash : null, cause: "sample", status: "assigned" },
      ...{
        paramsHash: HASHES.params_hash,
        resultHash: HASHES.result_hash,
        reason: null,
        round: 1,
        attempt: 1,
      },
      ...{ verdicts: "", operatorFails: 0, unassignedSince: null, eligibleBlock: receipt?.block },
      ...{ eligibleTime: receipt?.time, drawnBlock: block, drawnTime: time, closedTime: null, mode: null },
      ...{ decision: null, decisionRecord: null, history: null, isRefundFalse: false, canary: null },
      counted: null,
    });
    const auditor = wallet(100);
    expect(last).to.deep.equal({
      ...{ id: `${hire}/1/1`, hire, audit: hire, round: 1, attempt: 1, operator: AUDITED, auditor },
      ...{ auditorType: "auditor", models: null, passedOver: "", host: "auditor-0.example" },
      clusters: JSON.stringify({ [auditor]: [], [BUYER]: [], [SELLER]: [] }),
      families: JSON.stringify({ [auditor]: auditor, [BUYER]: BUYER, [SELLER]: SELLER }),
      ...{ verdict: null, reasons: null, record: null, fee: 0n, block, time, verdictTime: null },
    });
    const record = await say(log.after(60), "pass", {
      reasons: [
        { code: "fabricated", detail: "x" },
        { code: "other", detail: "" },
      ],
    });
    const after = await only(log);
    expect(after.last).to.deep.equal({
      ...{
        ...last,
        verdict: "pass",
        reasons: "fabricated,other",
        record,
        fee: 5_000n,
        verdictTime: log.time,
      },
    });
    const row = store.rows("auditor").get(`${AUDITED}/${auditor}`);
    expect(row).to.deep.include({
      ...{ id: `${AUDITED}/${auditor}`, agent: auditor, operator: AUDITED, capabilities: "text.translate" },
      ...{ host: "auditor-0.example", endpoint: "https://auditor-0.example", isActive: true, issuedAt: 1 },
      ...{ unanswered: 0, removedFor: null, barredUntil: null, assigned: 1, answered: 0, accrued: 0n },
    });
    expect(after.store.rows("auditor").get(`${AUDITED}/${auditor}`)).to.include({
      answered: 1,
      accrued: 5_000n,
    });
    const period = Math.floor(log.time / 2_592_000);
    expect([...after.store.rows("auditPeriod").values()]).to.deep.equal([
      {
        ...{ id: `${AUDITED}/${period}`, operator: AUDITED, from: period * 2_592_000 },
        ...{ accrued: 5_000n, paid: 0n, owed: 5_000n },
      },
    ]);
  });

  it("have an auditor's last offer, also a withdrawal, and its places on the rosters", async () => {
    const log = scene({ auditors: 3 });
    const size = async (capability: string) =>
      (await log.derive()).store.rows("roster").get(`${AUDITED}/${capability}`)?.size ?? 0;
    const both = ["text.translate", "text.summarize"];
    offer(log, wallet(100), { issued_at: 2, capabilities: both, endpoint: "https://new.example:8443/x" });
    expect([await size("text.translate"), await size("text.summarize")]).to.deep.equal([3, 1]);
    offer(log, wallet(100), { issued_at: 3, capabilities: ["text.summarize"] });
    expect([await size("text.translate"), await size("text.summarize")]).to.deep.equal([2, 1]);
    const { store } = await log.derive();
    const places = [0, 1].map(
      (n) => store.rows("rosterPlace").get(`${AUDITED}/text.translate/${n}`)?.auditor,
    );
    expect(places, "the last one took the free place").to.deep.equal([wallet(102), wallet(101)]);
    offer(log, wallet(100), { issued_at: 4, active: false });
    const row = (await log.derive()).store.rows("auditor").get(`${AUDITED}/${wallet(100)}`);
    expect(row).to.include({ isActive: false, capabilities: "", issuedAt: 4, host: "auditor.example" });
    expect([await size("text.translate"), await size("text.summarize")]).to.deep.equal([2, 0]);
  });
});
