import { expect } from "chai";
import { AMOUNT, STATUS, useWorld } from "../support/world.ts";

const RESULT = `0x${"5e".repeat(32)}`;
const OTHER = `0x${"77".repeat(32)}`;

describe("HireEscrow: markDelivered", () => {
  const world = useWorld();

  describe("given a held hire", () => {
    it("should record the delivery when the seller sends it, and move no money", async () => {
      const { ethers, escrow, escrowAddress, token, seller, payee, held, idOf, state } = world();
      const terms = await held();
      const call = escrow.connect(seller).markDelivered(terms, RESULT, "0x");
      await expect(call).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress, seller.address, payee.address],
        [0n, 0n, 0n],
      );
      await expect(call).to.emit(escrow, "Delivered").withArgs(idOf(terms), RESULT);
      expect(await state(terms)).to.deep.equal({ status: STATUS.Held, delivered: true, amount: AMOUNT });
    });

    it("should record the delivery when anyone sends the seller's signature", async () => {
      const { escrow, seller, stranger, held, signDelivered, state } = world();
      const terms = await held();
      const signature = await signDelivered(seller, terms, RESULT);
      await escrow.connect(stranger).markDelivered(terms, RESULT, signature);
      expect((await state(terms)).delivered).to.equal(true);
    });

    it("should record it in the last second before the deadline", async () => {
      const { escrow, seller, held, networkHelpers, state } = world();
      const terms = await held();
      await networkHelpers.time.setNextBlockTimestamp(terms.deadline - 1n);
      await escrow.connect(seller).markDelivered(terms, RESULT, "0x");
      expect((await state(terms)).delivered).to.equal(true);
    });

    it("should refuse it at the second of the deadline", async () => {
      const { escrow, seller, held, networkHelpers } = world();
      const terms = await held();
      await networkHelpers.time.setNextBlockTimestamp(terms.deadline);
      await expect(escrow.connect(seller).markDelivered(terms, RESULT, "0x"))
        .to.be.revertedWithCustomError(escrow, "DeadlinePassed")
        .withArgs(terms.deadline, terms.deadline);
    });

    it("should refuse it after the deadline, sent or signed by the seller", async () => {
      const { escrow, held, signDelivered, networkHelpers, state, ...parties } = world();
      const { buyer, seller, payee, feeRecipient, arbiter, guardian, stranger } = parties;
      const terms = await held();
      const signature = await signDelivered(seller, terms, RESULT);
      await networkHelpers.time.increaseTo(terms.deadline);
      for (const sender of [buyer, seller, payee, feeRecipient, arbiter, guardian, stranger]) {
        await expect(
          escrow.connect(sender).markDelivered(terms, RESULT, signature),
        ).to.be.revertedWithCustomError(escrow, "DeadlinePassed");
      }
      expect((await state(terms)).delivered).to.equal(false);
    });

    it("should record it only once", async () => {
      const { escrow, seller, held, idOf } = world();
      const terms = await held();
      await escrow.connect(seller).markDelivered(terms, RESULT, "0x");
      await expect(escrow.connect(seller).markDelivered(terms, OTHER, "0x"))
        .to.be.revertedWithCustomError(escrow, "AlreadyDelivered")
        .withArgs(idOf(terms));
    });

    it("should refuse it from the buyer, the payee and strangers", async () => {
      const { escrow, seller, buyer, payee, stranger, held } = world();
      const terms = await held();
      for (const sender of [buyer, payee, stranger]) {
        await expect(escrow.connect(sender).markDelivered(terms, RESULT, "0x"))
          .to.be.revertedWithCustomError(escrow, "NotAuthorized")
          .withArgs(sender.address, seller.address);
      }
    });

    it("should refuse a signature of another account, another result or another hire", async () => {
      const { escrow, seller, payee, held, signDelivered } = world();
      const terms = await held();
      const elsewhere = await held();
      for (const signature of [
        await signDelivered(payee, terms, RESULT),
        await signDelivered(seller, terms, OTHER),
        await signDelivered(seller, elsewhere, RESULT),
      ]) {
        await expect(escrow.markDelivered(terms, RESULT, signature))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(seller.address);
      }
    });
  });

  describe("given a hire that is not held", () => {
    it("should refuse a hire that was never deposited, and a settled hire", async () => {
      const { escrow, buyer, seller, hire, held, idOf } = world();
      const never = await hire();
      const settled = await held();
      await escrow.connect(buyer).release(settled, "0x");
      for (const [terms, status] of [
        [never, STATUS.None],
        [settled, STATUS.Released],
      ] as const) {
        await expect(escrow.connect(seller).markDelivered(terms, RESULT, "0x"))
          .to.be.revertedWithCustomError(escrow, "WrongStatus")
          .withArgs(idOf(terms), status, STATUS.Held);
      }
    });
  });
});
