import { expect } from "chai";
import { learnedLimit } from "../../../indexer/logPort/rpc/learnedLimit.ts";
import { windowSize } from "../../../indexer/logPort/rpc/windowSize.ts";

const times = (count: number, work: () => void) => {
  for (let n = 0; n < count; n++) work();
};

describe("a limit that is learned from refusals", () => {
  it("halves what was refused, and is never below one", () => {
    const limit = learnedLimit(20);
    limit.refused(3);
    expect(limit.current).to.equal(1);
    limit.refused(1);
    expect(limit.current).to.equal(1);
    const other = learnedLimit(20);
    other.refused(15);
    other.refused(20);
    expect(other.current, "an older refusal came later").to.equal(7);
  });

  it("grows again after many answers, up to its first value", () => {
    const limit = learnedLimit(20);
    limit.refused(10);
    times(199, limit.answered);
    expect(limit.current).to.equal(5);
    limit.answered();
    expect(limit.current).to.equal(10);
    times(200, limit.answered);
    expect(limit.current).to.equal(20);
    times(2_000, limit.answered);
    expect(limit.current).to.equal(20);
  });

  it("lets the ranges grow again for a node that refused for some days", () => {
    const size = windowSize(10_000);
    times(14, () => size.refusedRange(size.blocks));
    expect(size.blocks).to.equal(1);
    times(14 * 200, () => size.answered(0));
    expect(size.blocks).to.equal(10_000);
  });

  it("exceeds a real limit in only one of two hundred requests", () => {
    const size = windowSize(10_000);
    let refusals = 0;
    times(20_000, () => {
      if (size.blocks <= 500) size.answered(10);
      else {
        refusals++;
        size.refusedRange(size.blocks);
      }
    });
    expect(refusals).to.be.within(50, 110);
  });
});
