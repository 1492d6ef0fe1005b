import { expect } from "chai";
import {
  formatInflow,
  type How,
  hasSpent,
  parseInflow,
  parseOrigin,
  valueIn,
  withInflow,
  withSpent,
} from "tallystick-derive/families/origin";
import { wallet } from "../eventLog.ts";

const inflow = (value: bigint, how: How = "plain") => ({
  ...{ from: wallet(7), value, block: 12, log: 3, time: 1_767_225_601, how },
});
const act = { block: 15, log: 0, time: 1_767_225_700 };

describe("the line of a wallet's first money", () => {
  it("has everything that is stored of an inflow, in this order", () => {
    expect(formatInflow(inflow(500n, "payout"))).to.equal(`${wallet(7)} 500 12 3 1767225601 payout`);
    for (const how of ["plain", "payout", "hub", "busy", "mint"] as const)
      expect(parseInflow(formatInflow(inflow(2n ** 200n, how)))).to.deep.equal(inflow(2n ** 200n, how));
    expect(valueIn(formatInflow(inflow(500n)))).to.equal(500n);
  });

  it("keeps the largest inflow, and the first of equal ones", () => {
    const five = formatInflow(inflow(5n));
    expect(withInflow("", inflow(5n))).to.equal(five);
    expect(withInflow(five, inflow(5n, "hub"))).to.equal(five);
    expect(withInflow(five, inflow(4n))).to.equal(five);
    // As numbers, and not as texts.
    expect(withInflow(five, inflow(10n))).to.equal(formatInflow(inflow(10n)));
  });

  it("says whether and where the wallet first spent, with its largest inflow before, or without any", () => {
    const five = formatInflow(inflow(5n));
    expect(parseOrigin("")).to.deep.equal({ inflow: null, act: null });
    expect(parseOrigin(five)).to.deep.equal({ inflow: inflow(5n), act: null });
    expect(withSpent(five, act)).to.equal(`;15 0 1767225700;${five}`);
    expect(parseOrigin(withSpent(five, act))).to.deep.equal({ inflow: inflow(5n), act });
    expect(parseOrigin(withSpent("", act))).to.deep.equal({ inflow: null, act });
    for (const line of ["", five]) {
      expect(hasSpent(line)).to.equal(false);
      expect(hasSpent(withSpent(line, act))).to.equal(true);
    }
  });
});
