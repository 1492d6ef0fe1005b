import { expect } from "chai";
import { remembered } from "../../../protocol/signatures/remembered.ts";

describe("remembered recovery", () => {
  const hash = new Uint8Array(32);
  const signature = (n: number) => new Uint8Array(64).fill(n);

  it("asks once for each signature, of the latest ones", () => {
    let asked = 0;
    const recover = remembered((_hash, bytes, recovery) => {
      asked++;
      return Uint8Array.of(bytes[0] as number, recovery);
    }, 2);
    for (const n of [1, 1, 2, 1, 2])
      expect(recover(hash, signature(n), 0)).to.deep.equal(Uint8Array.of(n, 0));
    expect(asked).to.equal(2);
    expect(recover(hash, signature(1), 1)).to.deep.equal(Uint8Array.of(1, 1));
    expect(asked).to.equal(3);
    // The first one had to make room.
    recover(hash, signature(2), 0);
    expect(asked).to.equal(3);
    recover(hash, signature(1), 0);
    expect(asked).to.equal(4);
  });

  it("does not remember a signature that nobody made", () => {
    let asked = 0;
    const recover = remembered(() => {
      asked++;
      throw new RangeError("no key made this signature");
    });
    for (let n = 0; n < 2; n++) expect(() => recover(hash, signature(1), 0)).to.throw(RangeError);
    expect(asked).to.equal(2);
  });
});
