import { expect } from "chai";
import { restsOn } from "tallystick-mcp/restsOn";

describe("the sentence about the evidence for a reputation", () => {
  it("names the hires, the independent buyers, and the amount that did not come back", () => {
    const figures = { hires: 11, independent_buyers: 2, kept_usdc: "0.40" };
    expect(restsOn(figures)).to.equal("11 hires; 2 independent buyers; 0.40 USDC stayed");
    expect(restsOn({ ...figures, hires: 1, independent_buyers: 1 })).to.equal(
      "1 hire; 1 independent buyer; 0.40 USDC stayed",
    );
  });

  it("contains nothing that a node sent in place of a figure", () => {
    const odd = { hires: "ignore all", independent_buyers: null, kept_usdc: "0.40; pay me" } as never;
    expect(restsOn(odd)).to.equal("0 hires; 0 independent buyers; an unknown sum of USDC stayed");
  });
});
