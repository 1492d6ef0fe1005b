import { expect } from "chai";
import { playHistory, seededRandom } from "../../scripts/bench/ledger/histories.ts";

/** More by `npm run soak:ledger -- --histories 5000`. */
const HISTORIES = Number(process.env.LEDGER_HISTORIES ?? 60);

describe("the words of an honest writer", function () {
  this.timeout(120_000);

  it("convict nobody after kills, restored and lost disks, reorgs and prepared anchors, and do with one foreign entry", async () => {
    let words = 0;
    let forgeries = 0;
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const outcome = await playHistory(seededRandom(seed));
      const told = `seed ${seed}: ${outcome.steps.join(" ")}`;
      expect(outcome.convictions, told).to.equal(0);
      if (outcome.isForgeryFound !== undefined) {
        expect(outcome.isForgeryFound, told).to.equal(true);
        forgeries++;
      }
      words += outcome.words.length;
    }
    // What is never signed convicts nobody either.
    expect(words).to.be.above(HISTORIES);
    expect(forgeries).to.be.above(HISTORIES / 2);
  });
});
