import { expect } from "chai";
import { agentRow } from "tallystick-derive/agentRow";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  auditAbandoned,
  auditPassed,
  failEquivocal,
  failUndisclosed,
  roundDecided,
  roundExhausted,
} from "tallystick-derive/audits/outcomes";
import { emptyRow } from "tallystick-derive/emptyRow";
import { itemsOf } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { auditOf, BUYER, CAPABILITY, OPERATOR, SELLER } from "./auditRows.ts";

/** A context with this audit, in which both sides are agents. */
function scene(more: Partial<Row<"audit">> = {}, { isMature = false } = {}) {
  const context = contextAt(10, 0, { params: { windowSeconds: 1_000, audit: { recheckPpm: 7 } } });
  for (const it of [SELLER, BUYER]) ensureAgent(context, it);
  const audit = auditOf(more);
  context.store.insert("audit", audit);
  const mode = {
    ...emptyRow("auditMode"),
    id: `${OPERATOR}/${CAPABILITY}`,
    operator: OPERATOR,
    capability: CAPABILITY,
  };
  context.store.insert("auditMode", { ...mode, mode: isMature ? "mature" : "bootstrap" });
  const now = () => context.store.get("audit", "h") as Row<"audit">;
  return { context, audit, now };
}

const figures = (context: ApplyContext) => {
  const all = context.store.get("auditOperator", OPERATOR) ?? {};
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => name !== "id" && value && value !== 0n),
  );
};
const seller = (context: ApplyContext) => {
  const { auditsPassed, auditsRolledBack, auditsUndisclosed } = agentRow(context, SELLER);
  return [auditsPassed, auditsRolledBack, auditsUndisclosed];
};
const waiting = (context: ApplyContext) => [...itemsOf(context.store, "auditsWaiting")];

describe("a verdict of a round", () => {
  /** The status after these verdicts, one in each round; capital letters are the operator's own. */
  const decided = (verdicts: string) => {
    const { context, now } = scene();
    for (const it of verdicts) {
      const auditorType = it === it.toLowerCase() ? "auditor" : "operator-issued";
      roundDecided(context, now(), { auditorType }, it.toLowerCase() === "p" ? "pass" : "fail");
    }
    return { status: now().status, round: now().round, verdicts: now().verdicts, context, now };
  };

  it("ends the audit when two agree, or begins another round", () => {
    for (const [verdicts, status, round] of [
      ["p", "rechecking", 1],
      ["f", "assigning", 2],
      ["pp", "passed", 1],
      ["pf", "assigning", 2],
      ["ff", "failed", 2],
      ["fp", "assigning", 3],
      ["fpp", "passed", 3],
      ["fpf", "failed", 3],
      ["pff", "failed", 2],
      ["pfp", "passed", 2],
    ] as const)
      expect(decided(verdicts), verdicts).to.include({ status, round, verdicts });
  });

  it("of the operator itself never confirms a fail: a drawn auditor has to", () => {
    for (const [verdicts, status] of [
      ["F", "assigning"],
      ["FF", "assigning"],
      ["FFF", "inconclusive"],
      ["Ff", "failed"],
      ["fF", "failed"],
      ["FFf", "failed"],
      ["P", "rechecking"],
      ["FP", "assigning"],
      ["FPP", "passed"],
      ["PFF", "inconclusive"],
    ] as const)
      expect(decided(verdicts).status, verdicts).to.equal(status);
    expect(decided("FFF").now().operatorFails).to.equal(3);
    expect(decided("fFp").now().operatorFails).to.equal(1);
    expect(decided("PP").now().operatorFails).to.equal(0);
  });

  it("that passes puts the audit in the queue for a second look, once", () => {
    const { context } = decided("p");
    const id = `recheck/${OPERATOR}/7`;
    expect(context.store.get("auditQueue", id)).to.include({ length: 1, tail: "h" });
    expect(waiting(context)).to.deep.equal([]);
    expect(waiting(decided("pf").context)).to.deep.equal(["h"]);
    expect(decided("pf").context.store.get("auditQueue", id)?.length).to.equal(1);
  });
});

describe("the end of an audit", () => {
  const MODES = {
    assigning: "abandonedUnassigned",
    assigned: "abandonedAssigned",
    rechecking: "abandonedRechecking",
  };

  it("counts for its operator and, if it passed, for its seller, for the length of the window", () => {
    const { context, audit, now } = scene();
    auditPassed(context, audit);
    expect(now()).to.include({ status: "passed", reason: null, mode: null, counted: "passed" });
    expect(now().closedTime).to.equal(context.at.time);
    expect(figures(context)).to.deep.equal({ passed: 1 });
    expect(seller(context)).to.deep.equal([1, 0, 0]);
    expect(scheduled(context)).to.deep.equal([`${context.at.time + 1_000} audit h passed`]);
    const none = scene();
    roundExhausted(none.context, none.audit);
    expect(none.now()).to.include({ status: "inconclusive", counted: null });
    expect(figures(none.context)).to.deep.equal({ inconclusive: 1 });
    expect(seller(none.context)).to.deep.equal([0, 0, 0]);
  });

  it("as abandoned says how far it had come, and counts as no result", () => {
    for (const [status, figure] of Object.entries(MODES)) {
      const { context, audit, now } = scene({ status });
      auditAbandoned(context, audit);
      expect(now().status).to.equal("abandoned");
      expect(figures(context)).to.deep.equal({ [figure]: 1 });
    }
  });

  it("by the rules needs no auditor: without hashes, or with two different ones", () => {
    const undisclosed = scene();
    failUndisclosed(undisclosed.context, undisclosed.audit);
    expect(undisclosed.now()).to.include({ status: "failed", reason: "undisclosed", mode: "bootstrap" });
    expect(undisclosed.now()).to.include({ decision: null, counted: null, cause: "sample" });
    expect(figures(undisclosed.context)).to.deep.equal({ undisclosed: 1 });
    expect(seller(undisclosed.context)).to.deep.equal([0, 0, 1]);
    for (const [status, cause] of [
      ["eligible", "rules"],
      ["assigned", "sample"],
    ] as const) {
      const { context, audit, now } = scene({ status });
      failEquivocal(context, audit);
      expect(now(), status).to.include({ status: "failed", reason: "equivocation", cause });
      expect(figures(context)).to.deep.equal({ equivocal: 1 });
    }
    for (const status of ["failed", "abandoned"]) {
      const { context, audit, now } = scene({ status });
      failEquivocal(context, audit);
      expect(now()).to.equal(audit);
      expect(figures(context)).to.deep.equal({});
    }
  });

  it("takes back the result that it had before, if the seller turns out to have signed two things", () => {
    const passed = scene();
    auditPassed(passed.context, passed.audit);
    failEquivocal(passed.context, passed.now());
    expect(passed.now()).to.include({ status: "failed", counted: null });
    expect(figures(passed.context)).to.deep.equal({ equivocal: 1 });
    expect(seller(passed.context)).to.deep.equal([0, 0, 0]);
    const open = scene();
    roundExhausted(open.context, open.audit);
    failEquivocal(open.context, open.now());
    expect(figures(open.context)).to.deep.equal({ equivocal: 1 });
  });

  it("as failed takes effect at once in a mature capability, and else waits for its operator", () => {
    const { context, audit, now } = scene({ verdicts: "f" }, { isMature: true });
    roundDecided(context, audit, { auditorType: "auditor" }, "fail");
    expect(now()).to.include({
      status: "failed",
      mode: "mature",
      decision: "rollback",
      counted: "rolledBack",
    });
    expect(seller(context)).to.deep.equal([0, 1, 0]);
    expect(figures(context)).to.deep.equal({ failed: 1 });
    const other = scene({ verdicts: "f" });
    roundDecided(other.context, other.audit, { auditorType: "auditor" }, "fail");
    expect(other.now()).to.include({ status: "failed", mode: "bootstrap", decision: null, counted: null });
    const nameless = scene({ verdicts: "f", capability: null }, { isMature: true });
    roundDecided(nameless.context, nameless.audit, { auditorType: "auditor" }, "fail");
    expect(nameless.now().mode).to.equal("bootstrap");
  });

  it("has no mode and no effect on its seller if its refund was contested", () => {
    const { context, audit, now } = scene({ verdicts: "f", cause: "contested" }, { isMature: true });
    roundDecided(context, audit, { auditorType: "auditor" }, "fail");
    expect(now()).to.include({ status: "failed", mode: null, decision: null, counted: null });
    expect(seller(context)).to.deep.equal([0, 0, 0]);
    const good = scene({ cause: "contested" });
    auditPassed(good.context, good.audit);
    expect(good.now()).to.include({ status: "passed", counted: null });
    expect(figures(good.context)).to.deep.equal({ passed: 1 });
  });

  it("of a second audit changes only the first audit and two counts of the operator", () => {
    for (const [decision, verdict, figure] of [
      ["rollback", "fail", "historyAgreed"],
      ["rollback", "pass", "historyDiffered"],
      ["dismiss", "fail", "historyDiffered"],
      ["dismiss", "pass", "historyAgreed"],
    ] as const) {
      const { context, now } = scene({ status: "failed", decision, mode: "bootstrap" }, { isMature: true });
      const again = auditOf({
        id: "h/history",
        cause: "history",
        round: 4,
        verdicts: verdict === "pass" ? "p" : "f",
      });
      context.store.insert("audit", again);
      roundDecided(context, again, { auditorType: "auditor" }, verdict);
      const end = verdict === "pass" ? "passed" : "failed";
      expect(now().history).to.equal(end);
      expect(context.store.get("audit", "h/history")).to.include({ status: end, mode: null, counted: null });
      expect(figures(context), `${decision} ${verdict}`).to.deep.equal({ [figure]: 1 });
      expect(seller(context)).to.deep.equal([0, 0, 0]);
    }
    const { context, now } = scene({ status: "failed", decision: "rollback" });
    const again = auditOf({ id: "h/history", cause: "history" });
    context.store.insert("audit", again);
    roundExhausted(context, again);
    expect(now().history).to.equal("inconclusive");
    expect(figures(context)).to.deep.equal({});
  });
});
