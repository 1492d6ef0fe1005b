import { expect } from "chai";
import { type StandbyFault, soakStandby } from "../../../tools/bench/standby/soakStandby.ts";

describe("two processes that share a ledger", function () {
  this.timeout(900_000);

  it("take over from each other when one is killed after a lost answer, or stopped for longer than the lease", async () => {
    const faults: StandbyFault[] = ["answer and kill", "stop"];
    const taken = new Set<string>();
    const counts = await soakStandby({
      // On a busy machine a process may miss its lease before the fault. Then nobody takes over, and the fault is repeated.
      runs: 20,
      isOver: () => taken.size === faults.length,
      onRun: ({ fault, seconds }) => {
        if (seconds !== undefined) taken.add(fault);
      },
      leaseSeconds: 1,
      clients: 3,
      random: () => 0.5,
      faults,
    });
    expect([...taken]).to.have.members(faults);
    expect(counts.answers).to.be.above(0);
    expect(counts.checkpoints).to.be.above(0);
  });
});
