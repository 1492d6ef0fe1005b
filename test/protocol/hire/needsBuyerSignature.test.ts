import { expect } from "chai";
import { needsBuyerSignature } from "tallystick-protocol/hire/needsBuyerSignature";

const [AGENT, OTHER] = [`0x${"a9".repeat(20)}`, `0x${"0b".repeat(20)}`];

describe("a receipt that waits for its buyer's signature", () => {
  const waits = (body: { [field: string]: string }) =>
    needsBuyerSignature({ agent_id: AGENT, amount_usdc_atomic: "5", ...body });

  it("is free, or of a direct payment to another payee, which does not name the agent", () => {
    expect(waits({ amount_usdc_atomic: "0" })).to.equal(true);
    expect(waits({ payee: OTHER })).to.equal(true);
    expect(waits({ amount_usdc_atomic: "0", escrow_id: `0x${"1d".repeat(32)}` })).to.equal(true);
  });

  it("is no other one: an escrow names the agent, and so does a payment to the agent itself", () => {
    expect(waits({})).to.equal(false);
    expect(waits({ payee: AGENT })).to.equal(false);
    expect(waits({ payee: OTHER, escrow_id: `0x${"1d".repeat(32)}` })).to.equal(false);
    expect(waits({ amount_usdc_atomic: "1" })).to.equal(false);
  });
});
