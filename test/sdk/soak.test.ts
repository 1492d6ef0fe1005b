import { expect } from "chai";
import { soakHires } from "../../tools/bench/hire/soakHire.ts";

describe("random hires with faults injected", () => {
  it("create no money and lose no money, and the money is where the buyer was told", async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { hires, violations } = await soakHires({ hires: 12, seed });
    expect(violations, `npm run soak:hire -- --seed ${seed} --hires 12`).to.deep.equal([]);
    expect(hires).to.equal(12);
  });

  it("leave the money with the buyer if the seller's process ends at its first write", async () => {
    // With this seed the one hire is by escrow, and the seller's process ends at its first write.
    const { byFault, violations } = await soakHires({ hires: 1, seed: 329 });
    expect(byFault).to.deep.equal({ "seller crashes": 1 });
    expect(violations).to.deep.equal([]);
  });
});
