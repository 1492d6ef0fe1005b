import { expect } from "chai";
import { AMOUNT, FEE, STATUS, useWorld, ZeroAddress } from "../support/world.ts";

describe("HireEscrow: release", () => {
  const world = useWorld();

  describe("given a held hire and the buyer's word", () => {
    it("should pay the amount minus the fee to the payee, and the fee to its recipient", async () => {
      const { ethers, escrow, escrowAddress, token, buyer, seller, payee, feeRecipient, held } = world();
      const terms = await held();
      await expect(escrow.connect(buyer).release(terms, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress, payee.address, feeRecipient.address, seller.address, buyer.address],
        [-AMOUNT, AMOUNT - FEE, FEE, 0n, 0n],
      );
    });

    it("should pay the seller when no payee is named", async () => {
      const { ethers, escrow, token, buyer, seller, held } = world();
      const terms = await held({ payee: ZeroAddress, fee: 0n });
      await expect(escrow.connect(buyer).release(terms, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [seller.address],
        [AMOUNT],
      );
    });

    it("should pay the fee recipient everything when the fee is everything", async () => {
      const { ethers, escrow, token, buyer, payee, feeRecipient, held } = world();
      const terms = await held({ fee: AMOUNT });
      await expect(escrow.connect(buyer).release(terms, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [payee.address, feeRecipient.address],
        [0n, AMOUNT],
      );
    });

    it("should emit the gross amount, and keep nothing in the slot", async () => {
      const { escrow, buyer, seller, held, idOf, state } = world();
      const terms = await held();
      await expect(escrow.connect(buyer).release(terms, "0x"))
        .to.emit(escrow, "Released")
        .withArgs(idOf(terms), buyer.address, seller.address, AMOUNT, 0n, FEE);
      expect(await state(terms)).to.deep.equal({ status: STATUS.Released, delivered: false, amount: 0n });
    });

    it("should not delete the mark of an earlier delivery", async () => {
      const { escrow, buyer, seller, held, state } = world();
      const terms = await held();
      await escrow.connect(seller).markDelivered(terms, terms.hireId, "0x");
      await escrow.connect(buyer).release(terms, "0x");
      expect(await state(terms)).to.deep.equal({ status: STATUS.Released, delivered: true, amount: 0n });
    });

    it("should pay in the same way when anyone sends the buyer's signature", async () => {
      const { ethers, escrow, token, buyer, payee, stranger, held, signRelease } = world();
      const terms = await held();
      const signature = await signRelease(buyer, terms);
      await expect(escrow.connect(stranger).release(terms, signature)).to.changeTokenBalances(
        ethers,
        token,
        [payee.address, stranger.address],
        [AMOUNT - FEE, 0n],
      );
    });

    it("should pay after the deadline too, while the money is held", async () => {
      const { escrow, buyer, held, pass, state } = world();
      const terms = await held();
      await pass(terms);
      await escrow.connect(buyer).release(terms, "0x");
      expect((await state(terms)).status).to.equal(STATUS.Released);
    });
  });

  describe("given anyone else's word", () => {
    it("should refuse an empty signature from seller, payee, arbiter, fee recipient and strangers", async () => {
      const { escrow, buyer, seller, payee, arbiter, feeRecipient, stranger, held } = world();
      const terms = await held();
      for (const sender of [seller, payee, arbiter, feeRecipient, stranger]) {
        await expect(escrow.connect(sender).release(terms, "0x"))
          .to.be.revertedWithCustomError(escrow, "NotAuthorized")
          .withArgs(sender.address, buyer.address);
      }
    });

    it("should refuse the signatures of these accounts, also when the buyer sends them", async () => {
      const { escrow, buyer, seller, arbiter, held, signRelease } = world();
      const terms = await held();
      for (const signer of [seller, arbiter]) {
        await expect(escrow.connect(buyer).release(terms, await signRelease(signer, terms)))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(buyer.address);
      }
    });

    it("should refuse the buyer's signature over another hire, chain, contract or statement", async () => {
      const { escrow, buyer, tokenAddress, held, idOf, escrowDomain, signRelease, signRefund, signTyped } =
        world();
      const terms = await held();
      const elsewhere = await held();
      const message = { escrowId: idOf(terms) };
      for (const signature of [
        await signRelease(buyer, elsewhere),
        await signTyped(buyer, "Release", message, { ...escrowDomain, chainId: 1n }),
        await signTyped(buyer, "Release", message, { ...escrowDomain, verifyingContract: tokenAddress }),
        await signRefund(buyer, terms),
        await buyer.signMessage(idOf(terms)),
        "0x00",
        `0x${"00".repeat(65)}`,
      ]) {
        await expect(escrow.release(terms, signature))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(buyer.address);
      }
    });
  });

  describe("given a hire that is not held", () => {
    it("should refuse a hire that was never deposited", async () => {
      const { escrow, buyer, hire, idOf } = world();
      const terms = await hire();
      await expect(escrow.connect(buyer).release(terms, "0x"))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.None, STATUS.Held);
    });

    it("should refuse to pay a second time", async () => {
      const { escrow, buyer, held, idOf } = world();
      const terms = await held();
      await held();
      await escrow.connect(buyer).release(terms, "0x");
      await expect(escrow.connect(buyer).release(terms, "0x"))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Released, STATUS.Held);
    });

    it("should refuse terms that differ in any way from the deposited terms", async () => {
      const { escrow, buyer, stranger, held } = world();
      const terms = await held();
      for (const change of [
        { payee: stranger.address },
        { seller: stranger.address },
        { feeRecipient: stranger.address },
        { fee: 0n },
        { amount: AMOUNT + 1n },
        { deadline: terms.deadline + 1n },
        { arbiter: stranger.address },
      ]) {
        await expect(
          escrow.connect(buyer).release({ ...terms, ...change }, "0x"),
        ).to.be.revertedWithCustomError(escrow, "WrongStatus");
      }
    });
  });
});
