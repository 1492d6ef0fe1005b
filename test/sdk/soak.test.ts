import { expect } from "chai";
import { soakHires } from "../../tools/bench/hire/soakHire.ts";

describe("random hires with faults injected", () => {
  it("create and lose no unit of money, and leave it where the buyer was told", async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { hires, violations } = await soakHires({ hires: 12, seed });
    expect(violations, `npm run soak:hire -- --seed ${seed} --hires 12`).to.deep.equal([]);
    expect(hires).to.equal(12);
  });

  it("leave the money with a buyer whose seller dies at its first write", async () => {
    // In this run of the generator the one hire is by escrow, and the seller's first change is its last.
    const { byFault, violations } = await soakHires({ hires: 1, seed: 329 });
    expect(byFault).to.deep.equal({ "seller crashes": 1 });
    expect(violations).to.deep.equal([]);
  });
});
