import { expect } from "chai";
import fc from "fast-check";
import { formatLeg, type LegKind, parseFundings } from "tallystick-derive/funding/legs";
import { wallet } from "./eventLog.ts";

const leg = fc.record({
  from: fc.nat().map(wallet),
  block: fc.nat(),
  time: fc.nat(),
  log: fc.oneof(fc.nat(12), fc.nat()),
  kind: fc.constantFrom<LegKind>("plain", "claimable", "paid", "presumed"),
});

describe("the funding transfers of a wallet", () => {
  it("are the same after they were written and read, in their order", () => {
    fc.assert(
      fc.property(fc.array(leg), (legs) => {
        const text = legs.map(({ kind, ...it }) => formatLeg(it, kind)).join("\n");
        expect(parseFundings(text)).to.deep.equal(legs);
      }),
    );
  });

  it("are read up to a last line that is cut at any place", () => {
    const legs = [1, 2, 3].map((n) => ({ from: wallet(n), block: n, time: 10 * n, log: 40 + n }));
    const text = legs.map((it) => formatLeg(it, "claimable")).join("\n");
    for (let end = 1; end < text.length; end++) {
      const read = parseFundings(text.slice(0, end));
      const whole = text.slice(0, end).split("\n").length - 1;
      expect(read.length).to.equal(whole + 1);
      expect(read.slice(0, whole)).to.deep.equal(
        legs.slice(0, whole).map((it) => ({ ...it, kind: "claimable" })),
      );
    }
  });

  it("are lines of the sender, block, time and log, with a mark unless they are plain", () => {
    const of = { from: wallet(1), block: 2, time: 3, log: 40 };
    const lines = (["plain", "claimable", "paid", "presumed"] as const).map((kind) => formatLeg(of, kind));
    expect(lines).to.deep.equal(["", "?", "!", "~"].map((mark) => `${wallet(1)} 2 3 40${mark}`));
  });
});
