import { expect } from "chai";
import type { Hire } from "../../portal/hire/hireQuery.ts";
import { momentsOf } from "../../portal/hire/momentsOf.ts";

type Escrow = NonNullable<Hire["escrow"]>;

describe("portal/hire/momentsOf", () => {
  const momentsWith = (more: Partial<Escrow>) => {
    const escrow = { depositedTime: 100, status: "HELD", delivered: false, settledTime: null, ...more };
    const nothing = { payment: null, receipt: null, ratings: [], audit: null };
    return momentsOf({ ...nothing, amountUsdc: "1.00", escrow } as unknown as Hire);
  };

  it("says at the deposit of a held escrow whether the seller has marked a delivery since", () => {
    expect(momentsWith({}).map(({ detail }) => detail)).to.deep.equal([
      "The seller has not marked its delivery yet.",
    ]);
    expect(momentsWith({ delivered: true })[0]?.detail).to.equal("The seller has marked its delivery since.");
  });

  it("says at the settlement of a settled escrow whether a delivery was marked, and says nothing at the deposit", () => {
    for (const delivered of [true, false]) {
      const [deposit, settled] = momentsWith({ status: "RELEASED", delivered, settledTime: 200 });
      expect([deposit?.time, deposit?.detail]).to.deep.equal([100, ""]);
      expect(settled?.time).to.equal(200);
      expect(settled?.detail).to.contain(delivered ? "had marked its delivery" : "had marked no delivery");
    }
  });
});
