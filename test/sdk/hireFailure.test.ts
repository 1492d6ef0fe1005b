import { expect } from "chai";
import { MONEY_HINTS } from "tallystick-sdk/buyer/hireFailure";

describe("the hint of a hire that failed", () => {
  it("says who can send held money back, because no escrow does so by itself", () => {
    expect(MONEY_HINTS.held)
      .to.match(/Resume the hire/)
      .and.to.match(/anybody may send it back/);
    for (const hint of Object.values(MONEY_HINTS)) expect(hint).not.to.match(/escrow sends/);
  });
});
