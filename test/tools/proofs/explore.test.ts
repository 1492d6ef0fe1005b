import { expect } from "chai";
import { readFrozen } from "../../../scripts/ignition/frozenContract.ts";
import { compileWith, exploration, IMPOSSIBLE } from "../../../tools/proofs/exploration.ts";
import { explore } from "../../../tools/proofs/explore.ts";
import { freshChain } from "../../support/freshChain.ts";

describe("tools/proofs/explore", function () {
  this.timeout(600_000);
  // This builds the contracts if they are not built.
  before(async () => (await freshChain()).close());

  // `npm run prove` explores until there is no new state.
  it("finds no broken rule in the first states, with tokens of all behaviours", async () => {
    const { broken, never, states } = await explore(readFrozen("HireEscrow").initCode, { most: 4 });
    expect(broken).to.equal(undefined);
    expect(never).to.include.members(IMPOSSIBLE).and.not.include("Deposit");
    expect(states).to.be.greaterThan(20);
  });

  it("finds an inserted fault, a refund that accepts the signature of a release, and shows the steps", async () => {
    const [fault] = exploration.faults;
    if (fault === undefined) throw new Error("no fault");
    const { broken } = await explore(compileWith(fault), { moods: 1 });
    expect(broken?.rule).to.equal("a hire changed without the consent of an entitled role");
    expect(broken?.path.at(-1)).to.equal(
      "RefundByBuyer by Stranger, signed by Buyer for Release, token Honest",
    );
  });
});
