import { expect } from "chai";
import * as fc from "fast-check";
import { decimalSchema, formatDecimal, parseDecimal } from "tallystick-protocol/records/decimalSchema";
import { daysOf, guaranteeName, windowDays } from "tallystick-protocol/records/sla";

describe("figures in signed bodies", () => {
  it("are read exactly, in units of a billionth, and written in the shortest form", () => {
    const figures: [text: string, nano: bigint, shortest?: string][] = [
      ["0", 0n],
      ["0.000000001", 1n],
      ["0.99", 990_000_000n],
      ["0.990", 990_000_000n, "0.99"],
      ["1.0", 1_000_000_000n, "1"],
      ["5000", 5_000_000_000_000n],
      ["12.5", 12_500_000_000n],
      ["999999999999.999999999", 999_999_999_999_999_999_999n],
    ];
    for (const [text, nano, shortest = text] of figures) {
      expect(decimalSchema.safeParse(text).success, text).to.equal(true);
      expect(parseDecimal(text), text).to.equal(nano);
      expect(formatDecimal(nano), text).to.equal(shortest);
    }
  });

  it("are the same after they are written and read", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 21n - 1n }), (nano) => {
        const text = formatDecimal(nano);
        expect(decimalSchema.safeParse(text).success, text).to.equal(true);
        expect(parseDecimal(text)).to.equal(nano);
        expect(text).not.to.match(/\.$|\.\d*0$/);
      }),
    );
  });
});

describe("the windows of an SLA", () => {
  it("have a number of days, which is in a guarantee's name", () => {
    expect((["7 days", "30 days", "90 days"] as const).map(windowDays)).to.deep.equal([7, 30, 90]);
    expect(guaranteeName({ metric: "latency_p99", measurement_window: "30 days" })).to.equal(
      "latency_p99/30",
    );
  });

  it("do not limit a suspension, which has 1 to 90 days", () => {
    expect(["1 days", "7 days", "90 days"].map(daysOf)).to.deep.equal([1, 7, 90]);
    expect(["0 days", "91 days", "7", "7 days ", "x7 days", "070 days"].map(daysOf)).to.deep.equal(
      Array(6).fill(null),
    );
  });
});
