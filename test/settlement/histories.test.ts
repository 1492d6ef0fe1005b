import { expect } from "chai";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { playHistory } from "../../tools/bench/ledger/histories.ts";

/** `npm run soak:ledger -- --histories 5000` plays more. */
const HISTORIES = Number(process.env.LEDGER_HISTORIES ?? 40);

describe("the signatures of an honest writer", () => {
  for (const anchors of ["sent", "relayed"] as const)
    it(`convict nobody after kills, restored and lost disks, reorgs and ${anchors} anchors that are never mined; they convict after one foreign entry`, () =>
      play(anchors));

  it("convict if the memory of relayed anchors is only on the disk that is restored", async () => {
    let convictions = 0;
    for (let seed = 1; seed <= HISTORIES && convictions === 0; seed++)
      ({ convictions } = await playHistory(seededRandom(seed), { anchors: "forgotten" }));
    expect(convictions).to.be.above(0);
  });

  async function play(anchors: "sent" | "relayed"): Promise<void> {
    let words = 0;
    let forgeries = 0;
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const outcome = await playHistory(seededRandom(seed), { anchors });
      const told = `seed ${seed}: ${outcome.steps.join(" ")}`;
      expect(outcome.convictions, told).to.equal(0);
      if (outcome.isForgeryFound !== undefined) {
        expect(outcome.isForgeryFound, told).to.equal(true);
        forgeries++;
      }
      words += outcome.words.length;
    }
    // Without signatures nobody can be convicted. So the histories must contain enough of them.
    expect(words).to.be.above(HISTORIES);
    expect(forgeries).to.be.above(HISTORIES / 2);
  }
});
