import { expect } from "chai";
import fc from "fast-check";
import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { escrowFee, feeScheduleSchema, PUBLISHED_FEES } from "tallystick-protocol/escrow/feeSchedule";
import { defineParams } from "tallystick-protocol/records/params";

describe("the fees of platform escrows", () => {
  it("are the published fees, and an amount on a boundary belongs to the higher band", () => {
    const fees: [amount: string, fee: string][] = [
      ["0.000001", "0.000001"],
      ["0.0005", "0.0005"],
      ["0.02", "0.001"],
      ["0.099999", "0.001"],
      ["0.10", "0.005"],
      ["0.50", "0.005"],
      ["0.999999", "0.005"],
      ["1.00", "0.005"],
      ["1.25", "0.005"],
      ["2.00", "0.008"],
      ["9.999999", "0.039999"],
      ["10.00", "0.03"],
      ["100.00", "0.30"],
    ];
    for (const [amount, fee] of fees) {
      expect(formatUsdc(escrowFee(parseUsdc(amount))), amount).to.equal(formatUsdc(parseUsdc(fee)));
    }
    expect(escrowFee(0n)).to.equal(0n);
    expect(escrowFee(5n, [])).to.equal(0n);
  });

  it("are in the published parameters", () => {
    expect(defineParams().escrowFees).to.deep.equal(PUBLISHED_FEES);
  });

  it("are never more than the amount, or than the fee of the band", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (amount) => {
        const fee = escrowFee(amount);
        expect(fee >= 0n && fee <= amount).to.equal(true);
        expect(fee <= 5_000n || fee * 1_000_000n <= amount * 5_000n).to.equal(true);
      }),
    );
  });

  it("are a list of bands that begins at zero and rises", () => {
    const band = { rateMillionths: 1, minAtomic: "0" };
    const isGood = (from: string[]) =>
      feeScheduleSchema.safeParse(from.map((fromAtomic) => ({ ...band, fromAtomic }))).success;
    expect(isGood(["0", "5", "10"])).to.equal(true);
    expect(isGood([])).to.equal(false);
    expect(isGood(["1"])).to.equal(false);
    expect(isGood(["0", "2", "10"])).to.equal(true);
    expect(isGood(["0", "10", "5"])).to.equal(false);
    expect(isGood(["0", "5", "5"])).to.equal(false);
    expect(isGood(["0", "0"])).to.equal(false);
    expect(
      feeScheduleSchema.safeParse([{ ...band, fromAtomic: "0", rateMillionths: 1_000_001 }]).success,
    ).to.equal(false);
  });
});
