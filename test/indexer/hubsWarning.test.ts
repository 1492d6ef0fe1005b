import { expect } from "chai";
import { defineParams } from "tallystick-protocol/records/params";
import { hubsWarning } from "../../indexer/hubsWarning.ts";

describe("a node that names no hub", () => {
  it("logs a warning on Base and its test network, and nowhere else", () => {
    const params = defineParams();
    for (const chainId of [8453, 84_532])
      expect(hubsWarning({ chainId, params })).to.contain("10000 transfers");
    expect(hubsWarning({ chainId: 31_337, params })).to.equal(null);
    expect(hubsWarning({ chainId: 8453, params: defineParams({ hubs: [`0x${"1".repeat(40)}`] }) })).to.equal(
      null,
    );
  });
});
