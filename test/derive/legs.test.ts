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

  it("are not read from a line without a log number, or with an unknown mark", () => {
    const line = formatLeg({ from: wallet(1), block: 2, time: 3, log: 4 }, "claimable");
    for (let end = 1; end <= line.lastIndexOf(" ") + 1; end++)
      expect(() => parseFundings(`${line}\n${line.slice(0, end)}`)).to.throw("not a line");
    expect(() => parseFundings(`${line}?`)).to.throw("not a line");
  });

  it("are lines of the sender, block, time and log, with a mark unless they are plain", () => {
    const of = { from: wallet(1), block: 2, time: 3, log: 40 };
    const lines = (["plain", "claimable", "paid", "presumed"] as const).map((kind) => formatLeg(of, kind));
    expect(lines).to.deep.equal(["", "?", "!", "~"].map((mark) => `${wallet(1)} 2 3 40${mark}`));
  });
});
