import { expect } from "chai";
import { AMOUNT, FEE, STATUS, useWorld } from "../support/world.ts";

describe("HireEscrow: a payment during which the balance grows", () => {
  const world = useWorld("HostileToken");
  const CALLS_INSTEAD_OF_MOVING = 12n;

  it("should credit the whole amount, and not count money that came in during the payment", async () => {
    const w = world();
    const hire = await w.held();
    await w.token.behave(CALLS_INSTEAD_OF_MOVING);
    await w.token.hook(
      await w.token.getAddress(),
      w.token.interface.encodeFunctionData("mint", [w.escrowAddress, 7n]),
    );
    await w.escrow.connect(w.buyer).release(hire, "0x");
    expect(await w.token.hookSucceeded()).to.equal(true);
    expect((await w.state(hire)).status).to.equal(STATUS.Released);
    expect(await w.escrow.credit(w.payee.address)).to.equal(AMOUNT - FEE);
    expect(await w.token.balanceOf(w.escrowAddress)).to.equal(AMOUNT - FEE + 7n);
  });
});
