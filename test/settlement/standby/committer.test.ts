import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { Committer } from "../../../services/settlement/standby/committer.ts";

const because = (code: string) => new TallystickError({ code, message: "It cannot.", hint: "Look." });

describe("a writer that cannot write or anchor", () => {
  it("waits the whole time for each of these two faults before it hands the lease over", async () => {
    const gate = new LedgerGate(() => {});
    let [now, leases] = [0, 0];
    const lost: TallystickError[] = [];
    const committer = new Committer({
      store: {
        commit: async () => "ours",
        flushesFrom: async () => [],
        lease: async () => ++leases > 0,
        handOver: async () => true,
      },
      leaseMs: 8,
      handOverMs: 1_000,
      gate,
      onLost: (error) => lost.push(error),
      elapsedMs: () => now,
    });
    const someLeases = async () => {
      for (const until = leases + 3; leases < until && lost.length === 0; ) await sleep(1);
    };
    try {
      gate.noteSilence(because("chain_silent"));
      await someLeases();
      now = 2_900;
      await someLeases();
      gate.close("index", because("index_refused"));
      await someLeases();
      expect(lost, "it could write until now").to.deep.equal([]);
      now = 3_900;
      await someLeases();
      expect(lost[0]?.cause).to.include({ code: "index_refused" });
    } finally {
      await committer.stop();
    }
  });
});
