import { expect } from "chai";
import { agentRow } from "tallystick-derive/agentRow";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  contestedPpm,
  isContested,
  leaveFalseRefunds,
  passedContested,
  refundContested,
  refundVindicated,
  trustedOutcome,
} from "tallystick-derive/audits/contested";
import {
  auditedOutcome,
  countAudit,
  leaveAudits,
  rollBack,
  uncountAudit,
  withdrawAudit,
} from "tallystick-derive/audits/effects";
import { elevate, isElevated } from "tallystick-derive/audits/elevate";
import {
  clearElevations,
  elevatedUntil,
  elevateWith,
  raiseElevation,
} from "tallystick-derive/audits/elevations";
import { joinCluster } from "tallystick-derive/clusters";
import { emptyRow } from "tallystick-derive/emptyRow";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Outcome } from "tallystick-derive/outcome";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { ESCROW, NOBODY, wallet } from "../eventLog.ts";
import { auditOf, BUYER, OPERATOR, SELLER } from "./auditRows.ts";

const params = {
  windowSeconds: 1_000,
  audit: { elevatedSeconds: 300, contestedMinAtomic: "100", contestedSeconds: 500 },
} as never;

function scene(
  more: Partial<Row<"audit">> = {},
  { time = 50_000, store }: { time?: number; store?: MemoryStore } = {},
) {
  const context = contextAt(9, 0, { params, time, ...(store && { store }) });
  for (const it of [SELLER, BUYER]) ensureAgent(context, it);
  const audit = auditOf(more);
  if (context.store.get("audit", audit.id) === null) context.store.insert("audit", audit);
  const now = () => context.store.get("audit", audit.id) as Row<"audit">;
  return { context, audit, now };
}

const escrowOf = (more: Partial<Row<"escrow">> = {}): Row<"escrow"> => ({
  ...emptyRow("escrow"),
  ...{ id: "h", provider: "p", escrow: ESCROW, hireId: "0x02", seller: SELLER, buyer: BUYER, payee: SELLER },
  ...{ amount: 100n, feeRecipient: NOBODY, arbiter: NOBODY, tx: "0x03", status: "refunded" },
  ...{ takenBack: true, delivered: true, ...more },
});

const falseRefunds = (context: ApplyContext) => agentRow(context, BUYER).falseRefunds;
const settled = { outcome: "failure", refundAfterDelivery: true } as Outcome;

describe("a refund after delivery", () => {
  it("contradicts the delivery only if both are there", () => {
    expect(isContested(escrowOf())).to.equal(true);
    expect(isContested(escrowOf({ takenBack: false }))).to.equal(false);
    expect(isContested(escrowOf({ delivered: false }))).to.equal(false);
  });

  it("is false if an audit passes the work, until the end of the window", () => {
    const { context, now } = scene();
    context.store.insert("escrow", escrowOf());
    passedContested(context, now());
    expect(now().isRefundFalse).to.equal(true);
    expect(falseRefunds(context)).to.equal(1);
    expect(scheduled(context)).to.deep.equal(["51000 falseRefund h"]);
    for (const _ of [1, 2]) {
      leaveFalseRefunds(context, "h");
      expect(now().isRefundFalse).to.equal(false);
      expect(falseRefunds(context)).to.equal(0);
    }
    leaveFalseRefunds(context, "another");
    expect(falseRefunds(context)).to.equal(0);
  });

  it("is not false without a contradiction, after a report that nothing came, or for an arranged hire", () => {
    const refunds = (more: Partial<Row<"escrow">> | null, audit: Partial<Row<"audit">> = {}) => {
      const { context, now } = scene(audit);
      if (more !== null) context.store.insert("escrow", escrowOf(more));
      passedContested(context, now());
      return falseRefunds(context);
    };
    expect(refunds({})).to.equal(1);
    expect(refunds({ delivered: false })).to.equal(0);
    expect(refunds({ takenBack: false })).to.equal(0);
    expect(refunds({ nothingCame: true })).to.equal(0);
    expect(refunds({}, { canary: "good" })).to.equal(0);
    expect(refunds(null)).to.equal(0);
  });

  it("is not false any more when its seller contradicts itself", () => {
    const vindicated = (more: Partial<Row<"escrow">> | null) => {
      const { context, now } = scene({ isRefundFalse: true });
      context.agents.get(SELLER);
      const row = agentRow(context, BUYER);
      Object.assign(row, { falseRefunds: 1 });
      if (more !== null) context.store.insert("escrow", escrowOf(more));
      refundVindicated(context, now());
      return falseRefunds(context);
    };
    expect(vindicated({})).to.equal(0);
    expect(vindicated({ delivered: false })).to.equal(1);
    expect(vindicated(null)).to.equal(1);
  });

  it("of a buyer with a false refund means nothing about the work", () => {
    const { context } = scene();
    expect(trustedOutcome(context, BUYER, settled)).to.equal(settled);
    expect(trustedOutcome(context, wallet(9), settled)).to.equal(settled);
    Object.assign(agentRow(context, BUYER), { falseRefunds: 1 });
    expect(trustedOutcome(context, BUYER, settled)).to.deep.equal({ ...settled, outcome: "neutral" });
    const paid = { ...settled, refundAfterDelivery: false };
    expect(trustedOutcome(context, BUYER, paid)).to.equal(paid);
  });

  it("makes an audit of the refund if none was drawn, which is drawn for certain once in the period", () => {
    const drawn = (amount: bigint, seconds = 500, delivered = true, status = "eligible") => {
      const { context, now } = scene({ status, amount, operator: OPERATOR });
      context.store.insert("contestedPair", { id: `${BUYER}/${SELLER}`, time: context.at.time - seconds });
      refundContested(context, escrowOf({ delivered }));
      const queued = context.store.get("auditQueue", `sample/${OPERATOR}/1000000`)?.length ?? 0;
      return [now().cause, now().ppm, queued, context.store.get("contestedPair", `${BUYER}/${SELLER}`)?.time];
    };
    expect(drawn(100n)).to.deep.equal(["contested", 1_000_000, 1, 50_000]);
    expect(drawn(99n)).to.deep.equal(["contested", 5, 0, 49_500]);
    expect(drawn(100n, 499)).to.deep.equal(["contested", 5, 0, 49_501]);
    expect(drawn(100n, 500, false)).to.deep.equal(["sample", 5, 0, 49_500]);
    expect(drawn(100n, 500, true, "assigned")).to.deep.equal(["sample", 5, 0, 49_500]);
    const none = contextAt(9, 0, { params });
    refundContested(none, escrowOf());
    expect(none.store.get("contestedPair", `${BUYER}/${SELLER}`)).to.equal(null);
  });

  it("is false at once if the audit had passed the work before", () => {
    const { context, now } = scene({ status: "passed" });
    context.store.insert("escrow", escrowOf());
    refundContested(context, escrowOf());
    expect([now().cause, now().isRefundFalse, falseRefunds(context)]).to.deep.equal(["sample", true, 1]);
  });

  it("has the highest rate for the pair's first hire of the period, and the common rate after it", () => {
    const { context } = scene();
    const of = (buyer: string, amount = 100n) => contestedPpm(context, { buyer, seller: SELLER, amount }, 7);
    expect(of(BUYER, 99n)).to.equal(7);
    expect(of(BUYER)).to.equal(1_000_000);
    expect(of(BUYER)).to.equal(7);
    expect(of(wallet(9))).to.equal(1_000_000);
  });
});

describe("the counts of a seller's audits", () => {
  const counts = (context: ApplyContext) => {
    const { auditsPassed, auditsRolledBack } = agentRow(context, SELLER);
    return [auditsPassed, auditsRolledBack];
  };

  it("include an audit for the length of the window, as what it was", () => {
    for (const [counted, after] of [
      ["passed", [1, 0]],
      ["rolledBack", [0, 1]],
    ] as const) {
      const { context, audit, now } = scene();
      expect(countAudit(context, audit, counted)).to.include({ counted });
      expect(now().counted).to.equal(counted);
      expect(counts(context)).to.deep.equal(after);
      expect(scheduled(context)).to.deep.equal([`51000 audit h ${counted}`]);
      leaveAudits(context, "h", counted === "passed" ? "rolledBack" : "passed");
      leaveAudits(context, "another", counted);
      expect(counts(context)).to.deep.equal(after);
      leaveAudits(context, "h", counted);
      expect(counts(context)).to.deep.equal([0, 0]);
      expect(now().counted).to.equal(null);
      leaveAudits(context, "h", counted);
      expect(uncountAudit(context, now())).to.equal(now());
      expect(counts(context)).to.deep.equal([0, 0]);
    }
  });

  it("include no audit of an arranged hire", () => {
    const { context, audit, now } = scene({ canary: "bad" });
    expect(countAudit(context, audit, "passed")).to.equal(audit);
    rollBack(context, audit);
    expect(now()).to.equal(audit);
    expect(counts(context)).to.deep.equal([0, 0]);
    expect(isElevated(context, SELLER, "v0")).to.equal(false);
  });

  it("lose an arranged hire when it is revealed", () => {
    const shown = (more: Partial<Row<"audit">>) => {
      const { context, audit, now } = scene(more);
      Object.assign(agentRow(context, SELLER), { auditsEligible: 5, auditsDrawn: 4, auditsUndisclosed: 3 });
      withdrawAudit(context, "h", "bad");
      expect(now()).to.include({ canary: "bad", counted: null, isRefundFalse: false });
      expect(audit.canary).to.equal(null);
      const { auditsEligible, auditsDrawn, auditsUndisclosed } = agentRow(context, SELLER);
      return [auditsEligible, auditsDrawn, auditsUndisclosed];
    };
    expect(shown({})).to.deep.equal([4, 4, 3]);
    expect(shown({ drawnBlock: 0 })).to.deep.equal([4, 3, 3]);
    expect(shown({ drawnBlock: 7, reason: "undisclosed" })).to.deep.equal([4, 3, 2]);
    expect(shown({ drawnBlock: 7, reason: "equivocation" })).to.deep.equal([4, 3, 3]);
    const { context } = scene();
    withdrawAudit(context, "another", "bad");
    expect(agentRow(context, SELLER).auditsEligible).to.equal(0);
    const passed = scene({ counted: "passed", isRefundFalse: true });
    Object.assign(agentRow(passed.context, SELLER), { auditsPassed: 1 });
    Object.assign(agentRow(passed.context, BUYER), { falseRefunds: 1 });
    withdrawAudit(passed.context, "h", "good");
    expect([...counts(passed.context), falseRefunds(passed.context)]).to.deep.equal([0, 0, 0]);
  });
});

describe("an escrow that is counted after its audit", () => {
  const outcome = (more: Partial<Row<"audit">> | null, buyerIsFalse = false) => {
    const { context } = more === null ? scene({ id: "another", hire: "another" }) : scene(more);
    if (buyerIsFalse) Object.assign(agentRow(context, BUYER), { falseRefunds: 1 });
    return auditedOutcome(context, { id: "h", buyer: BUYER }, settled);
  };

  it("is a disputed failure if it was rolled back, and else what its settlement says", () => {
    expect(outcome(null)).to.deep.equal({ ...settled, isAuditable: false });
    expect(outcome({})).to.deep.equal({ ...settled, isAuditable: true });
    expect(outcome({ decision: "dismiss" })).to.deep.equal({ ...settled, isAuditable: true });
    const back = { outcome: "failure", dispute: true, disputeSource: "audit", evidence: "audit" };
    expect(outcome({ decision: "rollback" }, true)).to.deep.equal({ ...settled, ...back, isAuditable: true });
    expect(outcome({}, true)).to.deep.equal({ ...settled, outcome: "neutral", isAuditable: true });
  });
});

describe("the higher rate after a rollback", () => {
  it("holds for the seller under any version, and for its clusters under this version, with a strict limit", () => {
    const { context } = scene();
    const other = wallet(60);
    ensureAgent(context, other);
    joinCluster(context, { members: [SELLER, other], signal: "listing_fingerprint", funder: null });
    elevate(context, SELLER, "v1");
    const at = (seconds: number) => ({ ...context, at: { ...context.at, time: context.at.time + seconds } });
    expect(agentRow(context, SELLER).elevatedUntil).to.equal(50_300);
    for (const version of ["v1", "v2"]) {
      expect(isElevated(at(299), SELLER, version)).to.equal(true);
      expect(isElevated(at(300), SELLER, version)).to.equal(false);
    }
    expect(isElevated(at(299), other, "v1")).to.equal(true);
    expect(isElevated(at(300), other, "v1")).to.equal(false);
    expect(isElevated(at(0), other, "v2")).to.equal(false);
    expect(isElevated(at(0), BUYER, "v1")).to.equal(false);
    // Another rollback makes the time longer, and an earlier one never makes it shorter.
    elevate(at(-100), SELLER, "v1");
    expect(agentRow(context, SELLER).elevatedUntil).to.equal(50_300);
    expect(elevatedUntil(context, SELLER, "v1")).to.equal(50_300);
    elevate(at(10), SELLER, "v1");
    expect(agentRow(context, SELLER).elevatedUntil).to.equal(50_310);
    expect(elevatedUntil(context, SELLER, "v1")).to.equal(50_310);
  });

  it("follows an agent into a cluster while it holds, for each version of any text", () => {
    const { context } = scene();
    const versions = ["v0", "two\nlines", "a/b %20"];
    for (const [n, version] of versions.entries()) raiseElevation(context, SELLER, version, 50_000 + n);
    expect(elevatedUntil(context, "cluster", "v0")).to.equal(0);
    elevateWith(context, "cluster", SELLER);
    expect(versions.map((it) => elevatedUntil(context, "cluster", it))).to.deep.equal([0, 50_001, 50_002]);
    elevateWith(context, "cluster", "nobody");
    clearElevations(context, "cluster");
    expect(versions.map((it) => elevatedUntil(context, "cluster", it))).to.deep.equal([0, 0, 0]);
    expect(versions.map((it) => elevatedUntil(context, SELLER, it))).to.deep.equal([50_000, 50_001, 50_002]);
    expect(context.store.get("list", `elevated/${SELLER}`)?.length).to.equal(3);
    raiseElevation(context, SELLER, "v0", 60_000);
    raiseElevation(context, SELLER, "v0", 55_000);
    expect(elevatedUntil(context, SELLER, "v0")).to.equal(60_000);
    expect(context.store.get("list", `elevated/${SELLER}`)?.length).to.equal(3);
  });
});
