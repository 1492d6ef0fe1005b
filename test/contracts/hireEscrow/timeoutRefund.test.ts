import { expect } from "chai";
import { AMOUNT, STATUS, useWorld } from "../support/world.ts";

describe("HireEscrow: timeoutRefund", () => {
  const world = useWorld();

  describe("given a held hire whose deadline has come", () => {
    it("should refund the whole amount for any caller, from the exact second of the deadline", async () => {
      const { ethers, escrow, escrowAddress, token, buyer, stranger, held, networkHelpers } = world();
      const terms = await held();
      await networkHelpers.time.setNextBlockTimestamp(terms.deadline);
      await expect(escrow.connect(stranger).timeoutRefund(terms)).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress, buyer.address, stranger.address],
        [-AMOUNT, AMOUNT, 0n],
      );
    });

    it("should emit that no delivery was marked", async () => {
      const { escrow, buyer, seller, held, idOf, pass, state } = world();
      const terms = await held();
      await pass(terms);
      await expect(escrow.timeoutRefund(terms))
        .to.emit(escrow, "TimedOut")
        .withArgs(idOf(terms), buyer.address, seller.address, AMOUNT, false);
      expect(await state(terms)).to.deep.equal({ status: STATUS.TimedOut, delivered: false, amount: 0n });
    });

    it("should emit that the delivery was marked, and refund the buyer in this case too", async () => {
      const { escrow, buyer, seller, held, idOf, pass } = world();
      const terms = await held();
      await escrow.connect(seller).markDelivered(terms, terms.hireId, "0x");
      await pass(terms);
      await expect(escrow.timeoutRefund(terms))
        .to.emit(escrow, "TimedOut")
        .withArgs(idOf(terms), buyer.address, seller.address, AMOUNT, true);
    });
  });

  describe("given a held hire a second before its deadline", () => {
    it("should refuse the refund", async () => {
      const { escrow, held, networkHelpers } = world();
      const terms = await held();
      await networkHelpers.time.setNextBlockTimestamp(terms.deadline - 1n);
      await expect(escrow.timeoutRefund(terms))
        .to.be.revertedWithCustomError(escrow, "DeadlineNotReached")
        .withArgs(terms.deadline - 1n, terms.deadline);
    });

    it("should not accept an earlier deadline in the terms", async () => {
      const { escrow, held, now } = world();
      const terms = await held();
      const forged = { ...terms, deadline: await now() };
      await expect(escrow.timeoutRefund(forged)).to.be.revertedWithCustomError(escrow, "WrongStatus");
    });
  });

  describe("given a hire that is not held", () => {
    it("should refuse a hire that was never deposited, and refund nothing twice", async () => {
      const { escrow, hire, held, idOf, pass } = world();
      const terms = await held();
      await held({ deadline: terms.deadline + 100n });
      const never = await hire();
      await pass(never);
      await escrow.timeoutRefund(terms);
      for (const [settled, status] of [
        [never, STATUS.None],
        [terms, STATUS.TimedOut],
      ] as const) {
        await expect(escrow.timeoutRefund(settled))
          .to.be.revertedWithCustomError(escrow, "WrongStatus")
          .withArgs(idOf(settled), status, STATUS.Held);
      }
    });
  });
});
