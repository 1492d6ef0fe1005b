import { expect } from "chai";
import { soakHires } from "../../scripts/bench/hire/soakHire.ts";

describe("random hires with faults injected", () => {
  it("make and lose no unit of money, and leave it where the buyer was told", async function () {
    this.timeout(120_000);
    const seed = Math.floor(Math.random() * 1_000_000);
    const { hires, violations } = await soakHires({ hires: 12, seed });
    expect(violations, `npm run soak:hire -- --seed ${seed} --hires 12`).to.deep.equal([]);
    expect(hires).to.equal(12);
  });
});
