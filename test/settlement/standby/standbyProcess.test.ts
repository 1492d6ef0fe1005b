import { expect } from "chai";
import { soakStandby } from "../../../tools/bench/standby/soakStandby.ts";

describe("two processes that share a ledger", function () {
  this.timeout(300_000);

  it("take over from each other when one is killed after a lost answer, or stopped for longer than the lease", async () => {
    const counts = await soakStandby({
      runs: 2,
      leaseSeconds: 1,
      clients: 3,
      random: () => 0.5,
      faults: ["answer and kill", "stop"],
    });
    expect(counts).to.include({ runs: 2, takeovers: 2 });
    expect(counts.answers).to.be.above(0);
    expect(counts.checkpoints).to.be.above(0);
  });
});
