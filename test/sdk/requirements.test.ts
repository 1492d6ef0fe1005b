import { expect } from "chai";
import { meetsRequirements, requirementsAsked } from "tallystick-sdk/buyer/requirements";

describe("a buyer's requirements for a reputation", () => {
  it("are sent to the search, with amounts of USDC in canonical form", () => {
    expect(requirementsAsked({ independentBuyers: 3, receiptCoverage: 0.9, keptUsdc: "1" })).to.deep.equal({
      min_independent_buyers: 3,
      min_receipt_coverage: 0.9,
      min_kept_usdc: "1.00",
    });
    expect(requirementsAsked({})).to.deep.equal({});
  });

  it("are checked against the search's answer: an equal figure is enough, and a missing figure or null is not", () => {
    const told = { independent_buyers: 3, receipt_coverage: 0.9, kept_usdc: "0.40" };
    expect(meetsRequirements(told, { independentBuyers: 3, receiptCoverage: 0.9, keptUsdc: "0.4" })).to.equal(
      true,
    );
    expect(meetsRequirements(told, { independentBuyers: 4 })).to.equal(false);
    expect(meetsRequirements(told, { receiptCoverage: 0.900000001 })).to.equal(false);
    expect(meetsRequirements(told, { keptUsdc: "0.400001" })).to.equal(false);
    expect(meetsRequirements({ receipt_coverage: null }, { receiptCoverage: 0 })).to.equal(false);
    expect(meetsRequirements({ kept_usdc: "lots" }, { keptUsdc: "0.01" })).to.equal(false);
    expect(meetsRequirements({}, { independentBuyers: 0 })).to.equal(false);
    expect(meetsRequirements({}, {})).to.equal(true);
  });
});
