import { expect } from "chai";
import { feeOf, isPool, PERIOD_SECONDS, poolPaid, verdictEarned } from "tallystick-derive/audits/fees";
import type { Row } from "tallystick-derive/tables";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { assign, auditOf, OPERATOR, offered } from "./auditRows.ts";

const [A, POOL] = [wallet(100), wallet(24)];
const params = {
  audit: {
    operators: { [OPERATOR]: { pool: POOL }, [wallet(21)]: { pool: wallet(25) } },
    fees: [
      { fromAtomic: "0", feeAtomic: "5" },
      { fromAtomic: "100", feeAtomic: "7" },
      { fromAtomic: "1000", feeAtomic: "9" },
    ],
  },
} as never;

describe("the fee for a verdict", () => {
  it("is that of the highest band that the amount reaches", () => {
    const { audit } = contextAt(9, 0, { params }).params;
    for (const [amount, fee] of [
      [0n, 5n],
      [99n, 5n],
      [100n, 7n],
      [999n, 7n],
      [1_000n, 9n],
      [2n ** 100n, 9n],
    ] as const)
      expect(feeOf(audit, amount), String(amount)).to.equal(fee);
    expect(feeOf({ ...audit, fees: [{ fromAtomic: "10", feeAtomic: "5" }] }, 9n)).to.equal(0n);
    expect(feeOf({ ...audit, fees: [] }, 9n)).to.equal(0n);
  });
});

describe("the account of an auditor", () => {
  function scene(accrued = 0n, paid = 0n, time = 3 * PERIOD_SECONDS) {
    const context = contextAt(9, 0, { params, time });
    offered(context, A, { accrued, paid, assigned: 1 });
    const audit = auditOf({ amount: 100n });
    const assignment = assign(context, audit);
    const account = () => {
      const row = context.store.get("auditor", `${OPERATOR}/${A}`);
      const total = context.store.get("auditOperator", OPERATOR);
      return [row?.accrued, row?.paid, total?.accrued, total?.paid, total?.owed];
    };
    const period = (n: number) => context.store.get("auditPeriod", `${OPERATOR}/${n}`);
    return { context, audit, assignment, account, period };
  }

  it("gets the fee of its verdict, and so does the operator's total of the period", () => {
    const { context, audit, assignment, account, period } = scene();
    verdictEarned(context, audit, assignment, "pass");
    expect(account()).to.deep.equal([7n, 0n, 7n, 0n, 7n]);
    expect(context.store.get("auditAssignment", assignment.id)?.fee).to.equal(7n);
    const row = { id: `${OPERATOR}/3`, operator: OPERATOR, from: 3 * PERIOD_SECONDS };
    expect(period(3)).to.deep.equal({ ...row, accrued: 7n, paid: 0n, owed: 7n });
    poolPaid(context, POOL, A, 2n);
    expect(account()).to.deep.equal([7n, 2n, 7n, 2n, 5n]);
    expect(period(3)).to.deep.equal({ ...row, accrued: 7n, paid: 2n, owed: 5n });
    const last = { ...context, at: { ...context.at, time: 4 * PERIOD_SECONDS - 1 } };
    poolPaid(last, POOL, A, 1n);
    expect(period(3)).to.include({ paid: 3n, owed: 4n });
    const next = { ...context, at: { ...context.at, time: 4 * PERIOD_SECONDS } };
    poolPaid(next, POOL, A, 9n);
    // Five more than it is owed. The operator owes it nothing then, and not less than nothing.
    expect(account()).to.deep.equal([7n, 12n, 7n, 12n, 0n]);
    expect(period(4)).to.deep.equal({
      ...{ id: `${OPERATOR}/4`, operator: OPERATOR, from: 4 * PERIOD_SECONDS },
      ...{ accrued: 0n, paid: 9n, owed: 0n },
    });
    verdictEarned(next, audit, assignment, "fail");
    expect(account()).to.deep.equal([14n, 12n, 14n, 12n, 2n]);
  });

  it("is paid only by the operator's pool, and only if the operator asked the auditor", () => {
    const { context, account } = scene(7n);
    for (const [from, to] of [
      [wallet(25), A],
      [wallet(26), A],
      [POOL, wallet(101)],
    ] as const)
      poolPaid(context, from, to, 3n);
    expect(account().slice(0, 2)).to.deep.equal([7n, 0n]);
    context.store.update("auditor", `${OPERATOR}/${A}`, { assigned: 0 });
    poolPaid(context, POOL, A, 3n);
    expect(account().slice(0, 2)).to.deep.equal([7n, 0n]);
    for (const [pool, is] of [
      [POOL, true],
      [wallet(25), true],
      [OPERATOR, false],
      [A, false],
    ] as const)
      expect(isPool(context, pool)).to.equal(is);
  });

  it("gets the fee of a verdict that judges nothing when the next one of the round says the same", () => {
    const { context, audit, assignment, account } = scene();
    const fee = (id: string) => context.store.get("auditAssignment", id)?.fee;
    const said = { ...assignment, verdict: "inconclusive" } as Row<"auditAssignment">;
    context.store.put("auditAssignment", said);
    verdictEarned(context, audit, said, "inconclusive");
    expect(account()[0]).to.equal(0n);
    const silent = assign(context, audit, { attempt: 2 });
    const third = assign(context, audit, { attempt: 3, verdict: "inconclusive" });
    verdictEarned(context, audit, third, "inconclusive");
    expect([said, silent, third].map(({ id }) => fee(id))).to.deep.equal([7n, 0n, 0n]);
    const fourth = assign(context, audit, { attempt: 4, verdict: "inconclusive" });
    verdictEarned(context, audit, fourth, "inconclusive");
    expect([said, silent, third, fourth].map(({ id }) => fee(id))).to.deep.equal([7n, 0n, 7n, 0n]);
    const other = assign(context, audit, { round: 2, attempt: 1, verdict: "inconclusive" });
    verdictEarned(context, audit, other, "inconclusive");
    expect([third, fourth, other].map(({ id }) => fee(id))).to.deep.equal([7n, 0n, 0n]);
  });
});
