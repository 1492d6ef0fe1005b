import { expect } from "chai";
import fc from "fast-check";
import { replacementFees } from "tallystick-protocol/replacementFees";

const feesOf = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 12n }))
  .map(([tip, more]) => ({ maxFeePerGas: tip + more, maxPriorityFeePerGas: tip }));

describe("the price of a replacement", () => {
  it("raises both fees by at least an eighth, or changes nothing, and is at most ten times the present price", () => {
    fc.assert(
      fc.property(feesOf, feesOf, (now, before) => {
        const next = replacementFees(now, before);
        expect(next.maxPriorityFeePerGas <= next.maxFeePerGas).to.equal(true);
        if (next.maxFeePerGas === before.maxFeePerGas) {
          expect(next).to.deep.equal(before);
          return;
        }
        expect(next.maxFeePerGas * 8n >= before.maxFeePerGas * 9n).to.equal(true);
        expect(next.maxPriorityFeePerGas * 8n >= before.maxPriorityFeePerGas * 9n).to.equal(true);
        expect(next.maxFeePerGas >= now.maxFeePerGas).to.equal(true);
        expect(next.maxFeePerGas <= 10n * now.maxFeePerGas).to.equal(true);
      }),
    );
  });

  it("is a quarter higher, or the present price if that is more", () => {
    const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
      maxFeePerGas,
      maxPriorityFeePerGas,
    });
    for (const [now, before, next] of [
      [fees(100n, 1n), fees(100n, 1n), fees(126n, 2n)],
      [fees(1_000n, 50n), fees(100n, 10n), fees(1_000n, 50n)],
      [fees(1_000n, 5n), fees(100n, 10n), fees(1_000n, 13n)],
      [fees(100n, 1n), fees(798n, 8n), fees(998n, 11n)],
      [fees(100n, 1n), fees(800n, 8n), fees(800n, 8n)],
      [fees(0n, 0n), fees(1n, 1n), fees(1n, 1n)],
    ] as const)
      expect(replacementFees(now, before)).to.deep.equal(next);
  });

  it("stops rising while the chain's price does not change", () => {
    const now = { maxFeePerGas: 100n, maxPriorityFeePerGas: 1n };
    let price = now;
    for (let n = 0; n < 100; n++) price = replacementFees(now, price);
    expect(Number(price.maxFeePerGas)).to.be.within(700, 1_000);
    expect(replacementFees(now, price)).to.deep.equal(price);
  });
});
