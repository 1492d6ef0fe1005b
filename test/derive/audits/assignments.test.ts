import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { assignAuditors, awaitAuditor, endAttempt } from "tallystick-derive/audits/assignments";
import { joinRoster, rosterOf, rosterSize } from "tallystick-derive/audits/rosters";
import { emptyRow } from "tallystick-derive/emptyRow";
import { allItems } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { assign, auditOf, BUYER, CAPABILITY, OPERATOR, offered, SELLER } from "./auditRows.ts";

const ROSTER = rosterOf(OPERATOR, CAPABILITY);
const params = {
  audit: {
    ...{ operators: { [OPERATOR]: { pool: wallet(24) } }, maxUnanswered: 3, disclosureSeconds: 1_000 },
    ...{ verdictSeconds: 50 },
  },
} as never;

/** A tick's context, with this many auditors on the roster, which may all judge. */
function scene(auditors = 0): ApplyContext {
  const context = contextAt(9, null, { params });
  for (const id of [SELLER, BUYER]) ensureAgent(context, id);
  for (let n = 0; n < auditors; n++) {
    const agent = wallet(100 + n);
    ensureAgent(context, agent);
    offered(context, agent);
    joinRoster(context, ROSTER, agent);
    const sold = { ...emptyRow("capability"), id: `${agent}/${CAPABILITY}`, agent, capability: CAPABILITY };
    context.store.insert("capability", { ...sold, windowSuccesses: 1 } as Row<"capability">);
  }
  return context;
}

/** Puts an audit on the list, and assigns auditors. Returns what became of the audits that got none. */
function tick(context: ApplyContext, hash: string | null = "0x01"): string[] {
  const given: string[] = [];
  assignAuditors(context, hash ?? undefined, {
    abandon: ({ id }) => given.push(`abandoned ${id}`),
    exhaust: ({ id }) => given.push(`exhausted ${id}`),
  });
  return given;
}

function wait(context: ApplyContext, more: Partial<Row<"audit">> = {}): void {
  const audit = auditOf({ status: "eligible", round: 0, attempt: 0, drawnTime: context.at.time, ...more });
  context.store.insert("audit", audit);
  awaitAuditor(context, audit, 1);
}

const audit = (context: ApplyContext, id = "h") => context.store.get("audit", id) as Row<"audit">;
const asked = (context: ApplyContext, id = "h/1/1") => context.store.get("auditAssignment", id);
const waiting = (context: ApplyContext) => allItems(context.store, "auditsWaiting");
const unanswered = (context: ApplyContext) => context.store.get("auditOperator", OPERATOR)?.unanswered ?? 0;

describe("an audit that waits for an auditor", () => {
  it("begins a new round with its first attempt, and goes on in the same round with the next", () => {
    const context = scene();
    const before = auditOf({ round: 1, attempt: 3, unassignedSince: null });
    context.store.insert("audit", before);
    awaitAuditor(context, before);
    expect(audit(context)).to.include({ status: "assigning", round: 1, attempt: 3 });
    awaitAuditor(context, audit(context), 2, { drawnBlock: 7 });
    expect(audit(context)).to.include({ status: "assigning", round: 2, attempt: 0, drawnBlock: 7 });
    expect(waiting(context)).to.deep.equal(["h", "h"]);
  });

  it("gets one auditor, whose time begins now, and is off the list then", () => {
    const context = scene(1);
    wait(context);
    expect(tick(context)).to.deep.equal([]);
    expect(audit(context)).to.include({ status: "assigned", round: 1, attempt: 1, unassignedSince: null });
    expect(asked(context)).to.deep.equal({
      ...{ id: "h/1/1", hire: "h", audit: "h", round: 1, attempt: 1, operator: OPERATOR },
      ...{
        auditor: wallet(100),
        auditorType: "auditor",
        models: null,
        passedOver: "",
        host: "auditor.example",
      },
      clusters: JSON.stringify({ [wallet(100)]: [], [BUYER]: [], [SELLER]: [] }),
      families: JSON.stringify({ [wallet(100)]: wallet(100), [BUYER]: BUYER, [SELLER]: SELLER }),
      ...{
        verdict: null,
        reasons: null,
        record: null,
        fee: 0n,
        block: 9,
        time: context.at.time,
        verdictTime: null,
      },
    });
    expect(context.store.get("auditor", `${OPERATOR}/${wallet(100)}`)?.assigned).to.equal(1);
    expect(context.store.get("auditPair", `${wallet(100)}/${BUYER}/${SELLER}`)?.time).to.equal(
      context.at.time,
    );
    expect(context.store.get("auditMode", ROSTER)?.firstAssigned).to.equal(context.at.time);
    expect(scheduled(context)).to.deep.equal([`${context.at.time + 50} verdict h/1/1`]);
    expect(waiting(context)).to.deep.equal([]);
    expect(tick(context)).to.deep.equal([]);
    expect(asked(context, "h/1/2")).to.equal(null);
  });

  it("waits on if nobody may judge it, since the first tick with a hash", () => {
    const context = scene();
    wait(context);
    wait(context, { id: "g", hire: "g" });
    expect(tick(context, null)).to.deep.equal([]);
    expect(audit(context).unassignedSince).to.equal(null);
    tick(context);
    expect(audit(context).unassignedSince).to.equal(context.at.time);
    expect(context.store.get("auditOperator", OPERATOR)?.unassigned).to.equal(2);
    const later = { ...context, at: { ...context.at, time: context.at.time + 9 } };
    tick(later);
    expect(audit(context).unassignedSince).to.equal(context.at.time);
    expect(context.store.get("auditOperator", OPERATOR)?.unassigned).to.equal(2);
    expect(waiting(context)).to.deep.equal(["h", "g"]);
  });

  it("is on the list once, and keeps its place before those that came later", () => {
    const context = scene();
    wait(context);
    wait(context, { id: "g", hire: "g" });
    awaitAuditor(context, audit(context));
    tick(context);
    expect(waiting(context)).to.deep.equal(["h", "g"]);
    context.store.update("audit", "h", { status: "passed" });
    tick(context);
    expect(waiting(context)).to.deep.equal(["g"]);
  });

  it("ends when its operator has left, or when its seller need not keep the work any longer", () => {
    const context = scene(1);
    wait(context, { id: "left", hire: "left", operator: wallet(21) });
    expect(tick(context)).to.deep.equal(["abandoned left"]);
    const old = scene(1);
    const time = old.at.time - 1_000;
    wait(old, { drawnTime: time });
    wait(old, { id: "g", hire: "g", drawnTime: time + 1 });
    expect(tick(old)).to.deep.equal(["exhausted h"]);
    expect(audit(old, "g").status).to.equal("assigned");
    const never = scene(1);
    wait(never, { drawnTime: null });
    expect(tick(never)).to.deep.equal([]);
    expect(audit(never).status).to.equal("assigned");
    // A tick without a hash ends it too.
    const silent = scene();
    wait(silent, { drawnTime: time });
    expect(tick(silent, null)).to.deep.equal(["exhausted h"]);
  });

  it("passes over those that may not judge, and tries each of a small roster before it gives up", () => {
    const context = scene(3);
    for (const n of [0, 1, 2])
      context.store.update("capability", `${wallet(100 + n)}/${CAPABILITY}`, { windowSuccesses: 0 });
    wait(context);
    tick(context);
    expect(audit(context).status).to.equal("assigning");
    for (let n = 0; n < 9; n++) tick(context, `0x0${n}`);
    expect(asked(context)).to.equal(null);
    context.store.update("capability", `${wallet(102)}/${CAPABILITY}`, { windowSuccesses: 1 });
    const numbers = [0, 1, 2];
    const sha256Hex = () => String(numbers.shift()).padStart(16, "0");
    tick({ ...context, sha256Hex: sha256Hex as never });
    expect(asked(context)).to.include({ auditor: wallet(102), passedOver: "capability,capability" });
  });

  it("is drawn by the hash of block, hire, round, attempt and number of the try", () => {
    const words: string[] = [];
    const context = scene(2);
    for (const n of [0, 1]) {
      const id = `${wallet(100 + n)}/${CAPABILITY}`;
      context.store.update("capability", id, { windowSuccesses: 0 });
    }
    wait(context);
    const numbers = ["0000000000000000", "0000000000000000", "0000000000000001"];
    const sha256Hex = (text: string) => {
      words.push(text);
      return numbers[words.length - 1];
    };
    tick({ ...context, sha256Hex: sha256Hex as never }, "0xabc");
    expect(words).to.deep.equal([0, 1, 2].map((k) => `tallystick/audit/auditor/v1 0xabc h 1 1 ${k}`));
    // One place is tried sixty-four times, and then the audit waits on.
    words.length = 0;
    const same = (text: string) => {
      words.push(text);
      return "0000000000000000";
    };
    tick({ ...context, sha256Hex: same as never }, "0xabc");
    expect(words).to.have.length(64);
  });

  it("names why each try before it failed, in order, also twice", () => {
    const context = scene(2);
    context.store.update("capability", `${wallet(100)}/${CAPABILITY}`, { windowSuccesses: 0 });
    wait(context);
    const numbers = [0, 0, 1];
    const sha256Hex = () => String(numbers.shift()).padStart(16, "0");
    tick({ ...context, sha256Hex: sha256Hex as never });
    expect(asked(context)).to.include({ auditor: wallet(101), passedOver: "capability,capability" });
  });

  it("counts its last attempt as unanswered when the next one begins", () => {
    const context = scene(2);
    const before = auditOf({ status: "assigned", drawnTime: context.at.time });
    context.store.insert("audit", before);
    assign(context, before, { auditor: wallet(100) });
    awaitAuditor(context, before);
    tick(context);
    expect(asked(context, "h/1/2")?.auditor).to.equal(wallet(101));
    expect(unanswered(context)).to.equal(1);
    expect(context.store.get("auditor", `${OPERATOR}/${wallet(100)}`)?.unanswered).to.equal(1);
  });

  it("of a work without a capability finds nobody", () => {
    const context = scene(1);
    wait(context, { capability: null });
    expect(tick(context)).to.deep.equal([]);
    expect(audit(context).status).to.equal("assigning");
  });
});

describe("the end of an attempt", () => {
  function ended(more: Partial<Row<"auditAssignment">>, before: Partial<Row<"auditor">> = {}, attempt = 1) {
    const context = scene();
    offered(context, wallet(100), before);
    joinRoster(context, ROSTER, wallet(100));
    const of = auditOf({ attempt });
    context.store.insert("audit", of);
    assign(context, of, more);
    endAttempt(context, of);
    const {
      unanswered: own,
      isActive,
      removedFor,
    } = context.store.get("auditor", `${OPERATOR}/${wallet(100)}`) ?? {};
    return [unanswered(context), own, isActive, removedFor, rosterSize(context, ROSTER)];
  }

  it("counts against an auditor without a verdict, and the third one in a row removes it", () => {
    expect(ended({})).to.deep.equal([1, 1, true, null, 1]);
    expect(ended({}, { unanswered: 1 })).to.deep.equal([1, 2, true, null, 1]);
    expect(ended({}, { unanswered: 2 })).to.deep.equal([1, 3, false, "unanswered", 0]);
    expect(ended({}, { unanswered: 3 })).to.deep.equal([1, 4, false, "unanswered", 0]);
  });

  it("counts nothing after a verdict, before the first attempt, or against the operator's own row", () => {
    expect(ended({ verdict: "pass" })).to.deep.equal([0, 0, true, null, 1]);
    expect(ended({}, {}, 0)).to.deep.equal([0, 0, true, null, 1]);
    expect(ended({ auditorType: "operator-issued" })).to.deep.equal([1, 0, true, null, 1]);
  });

  it("leaves the reason of an auditor that was removed before", () => {
    const removed = { isActive: false, removedFor: "extortion", unanswered: 5 };
    expect(ended({}, removed).slice(0, 4)).to.deep.equal([1, 6, false, "extortion"]);
  });
});
