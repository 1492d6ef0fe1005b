import { expect } from "chai";
import { agentRow } from "tallystick-derive/agentRow";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { emptyRow } from "tallystick-derive/emptyRow";
import {
  answerIsDue,
  awaitAnswer,
  awaitReceipt,
  leaveUnanswered,
  leaveUnreceipted,
  receiptIsDue,
} from "tallystick-derive/families/coverage";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { ESCROW, NOBODY, wallet } from "../eventLog.ts";

const [SELLER, BUYER] = [wallet(1), wallet(2)];
const params = { reconcileSeconds: 100, windowSeconds: 1_000 };
const [TX, PAID_AT] = ["0xaa", 50_000];
const ID = `${TX}-7`;
const WORDS = [SELLER, BUYER, "250", "9", String(PAID_AT)];

/** A context at this time, in which the seller is an agent. */
function at(time: number, store?: ApplyContext["store"]): ApplyContext {
  const context = contextAt(10, null, { time, params, ...(store && { store: store as never }) });
  ensureAgent(context, SELLER);
  return context;
}

const figures = (context: ApplyContext) => {
  const { unreceipted, unreceiptedValue, unanswered } = agentRow(context, SELLER);
  return [unreceipted, unreceiptedValue, unanswered];
};

describe("a payment without a receipt", () => {
  it("is due one second after the time for the receipt", () => {
    const context = at(PAID_AT);
    const payment = { block: 9, log: 7, time: PAID_AT, from: BUYER, to: SELLER, value: 250n, tx: TX };
    awaitReceipt(context, payment);
    expect(scheduled(context)).to.deep.equal([`${PAID_AT + 101} unreceipted ${[ID, ...WORDS].join(" ")}`]);
  });

  it("counts with its value when it is due, and is due again when it leaves the window", () => {
    const context = at(PAID_AT + 101);
    receiptIsDue(context, ID, WORDS);
    expect(figures(context)).to.deep.equal([1, 250n, 0]);
    expect(context.touchedAgents).to.include(SELLER);
    const row = {
      id: ID,
      seller: SELLER,
      buyer: BUYER,
      value: 250n,
      block: 9,
      time: PAID_AT,
      inWindow: true,
    };
    expect(context.store.get("unreceipted", ID)).to.deep.equal(row);
    expect(scheduled(context)).to.deep.equal([`${PAID_AT + 1_000} unpaid ${ID}`]);
    receiptIsDue(context, ID, WORDS);
    expect(figures(context)).to.deep.equal([1, 250n, 0]);
    receiptIsDue(context, "0xbb-1", WORDS);
    expect(figures(context)).to.deep.equal([2, 500n, 0]);
    leaveUnreceipted(context, ID);
    expect(figures(context)).to.deep.equal([1, 250n, 0]);
    expect(context.store.get("unreceipted", ID)).to.deep.equal({ ...row, inWindow: false });
    for (const id of [ID, "0xcc-1"]) leaveUnreceipted(context, id);
    expect(figures(context)).to.deep.equal([1, 250n, 0]);
  });

  it("does not count outside of the window, or if it is a hire", () => {
    const inWindow = (time: number) => {
      const context = at(time);
      receiptIsDue(context, ID, WORDS);
      return figures(context)[0];
    };
    expect(inWindow(PAID_AT + 999)).to.equal(1);
    expect(inWindow(PAID_AT + 1_000)).to.equal(0);
    const context = at(PAID_AT + 101);
    context.store.insert("hire", { id: ID } as Row<"hire">);
    receiptIsDue(context, ID, WORDS);
    expect(figures(context)).to.deep.equal([0, 0n, 0]);
    expect(context.store.get("unreceipted", ID)).to.equal(null);
  });
});

describe("an escrow without an answer", () => {
  const SETTLED = 60_000;
  const escrow = (more: Partial<Row<"escrow">> = {}): Row<"escrow"> => ({
    ...emptyRow("escrow"),
    ...{ id: "0x01", provider: "p", escrow: ESCROW, hireId: "0x02", seller: SELLER, buyer: BUYER },
    ...{ payee: SELLER, amount: 1_000n, feeRecipient: NOBODY, arbiter: NOBODY, tx: "0x03" },
    ...{ status: "refunded", settledTime: SETTLED, refundedBy: BUYER, ...more },
  });
  /** Ways in which a seller got money or acted. */
  const answers: Partial<Row<"escrow">>[] = [
    { status: "released" },
    { delivered: true },
    { receipt: "r" },
    { refundedBy: SELLER },
  ];

  it("is due one second after the time for the answer, if it is as large as a hire and has no answer", () => {
    const due = (more: Partial<Row<"escrow">>) => {
      const context = at(SETTLED);
      awaitAnswer(context, escrow(more));
      return scheduled(context);
    };
    const line = `${SETTLED + 101} unanswered 0x01`;
    expect(due({})).to.deep.equal([line]);
    expect(due({ status: "timed_out", refundedBy: null })).to.deep.equal([line]);
    expect(due({ amount: 999n })).to.deep.equal([]);
    for (const answer of answers) expect(due(answer), JSON.stringify(answer)).to.deep.equal([]);
  });

  const decided = (time: number, more: Partial<Row<"escrow">> = {}) => {
    const context = at(time);
    context.store.insert("escrow", escrow(more));
    answerIsDue(context, "0x01");
    return context;
  };

  it("counts when it is due, and is due again when it leaves the window", () => {
    const context = decided(SETTLED + 101);
    expect(figures(context)).to.deep.equal([0, 0n, 1]);
    expect(context.touchedAgents).to.include(SELLER);
    expect(context.store.get("escrow", "0x01")?.unanswered).to.equal(true);
    expect(scheduled(context)).to.deep.equal([`${SETTLED + 1_000} answered 0x01`]);
    for (const _ of [1, 2]) {
      leaveUnanswered(context, "0x01");
      expect(figures(context)).to.deep.equal([0, 0n, 0]);
      expect(context.store.get("escrow", "0x01")?.unanswered).to.equal(false);
    }
  });

  it("does not count outside of the window, with an answer, or for a seller that is no agent", () => {
    expect(figures(decided(SETTLED + 999))[2]).to.equal(1);
    expect(figures(decided(SETTLED + 1_000))[2]).to.equal(0);
    for (const answer of answers)
      expect(figures(decided(SETTLED + 101, answer))[2], JSON.stringify(answer)).to.equal(0);
    const context = decided(SETTLED + 101, { seller: wallet(9) });
    expect(scheduled(context)).to.deep.equal([]);
    expect(context.store.get("escrow", "0x01")?.unanswered).to.equal(false);
    expect(context.agents.has(wallet(9))).to.equal(false);
  });
});
