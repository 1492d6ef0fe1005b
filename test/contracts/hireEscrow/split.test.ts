import { expect } from "chai";
import { AMOUNT, STATUS, useWorld } from "../support/world.ts";

describe("HireEscrow: split", () => {
  const world = useWorld();

  describe("given a held hire and the buyer's word", () => {
    it("should pay each side its part and the fee's recipient its share", async () => {
      const { ethers, escrow, escrowAddress, token, buyer, payee, feeRecipient, held } = world();
      const terms = await held();
      await expect(escrow.connect(buyer).split(terms, 200_000n, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress, payee.address, feeRecipient.address, buyer.address],
        [-AMOUNT, 190_000n, 10_000n, 300_000n],
      );
    });

    it("should round the share of the fee down, so that the seller gains less than one unit", async () => {
      const { ethers, escrow, token, buyer, payee, feeRecipient, held } = world();
      const terms = await held({ amount: 3n, fee: 2n });
      await expect(escrow.connect(buyer).split(terms, 2n, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [payee.address, feeRecipient.address, buyer.address],
        [1n, 1n, 1n],
      );
    });

    it("should emit the gross amounts and keep nothing in the slot", async () => {
      const { escrow, buyer, seller, held, idOf, state } = world();
      const terms = await held();
      await expect(escrow.connect(buyer).split(terms, 1n, "0x"))
        .to.emit(escrow, "Released")
        .withArgs(idOf(terms), buyer.address, seller.address, 1n, AMOUNT - 1n, 0n);
      expect(await state(terms)).to.deep.equal({ status: STATUS.Split, delivered: false, amount: 0n });
    });

    it("should work with the largest amounts of the type", async () => {
      const { ethers, escrow, token, buyer, payee, feeRecipient, held } = world();
      const amount = 2n ** 128n - 1n;
      await token.mint(buyer.address, amount);
      const terms = await held({ amount, fee: amount });
      await expect(escrow.connect(buyer).split(terms, amount - 1n, "0x")).to.changeTokenBalances(
        ethers,
        token,
        [payee.address, feeRecipient.address, buyer.address],
        [0n, amount - 1n, 1n],
      );
    });

    it("should split in the same way when anyone sends the buyer's signature, also after the deadline", async () => {
      const { escrow, buyer, seller, held, pass, signSplit, state } = world();
      const terms = await held();
      await pass(terms);
      await escrow.connect(seller).split(terms, 1_000n, await signSplit(buyer, terms, 1_000n));
      expect((await state(terms)).status).to.equal(STATUS.Split);
    });
  });

  describe("given a part at or near the limits", () => {
    it("should refuse 0, the amount, and more", async () => {
      const { escrow, buyer, held } = world();
      const terms = await held();
      for (const toSeller of [0n, AMOUNT, AMOUNT + 1n, 2n ** 128n - 1n]) {
        await expect(escrow.connect(buyer).split(terms, toSeller, "0x"))
          .to.be.revertedWithCustomError(escrow, "SplitOutOfRange")
          .withArgs(toSeller, AMOUNT);
      }
    });

    it("should accept 1 and the amount minus 1", async () => {
      const { escrow, buyer, held, state } = world();
      for (const toSeller of [1n, AMOUNT - 1n]) {
        const terms = await held();
        await escrow.connect(buyer).split(terms, toSeller, "0x");
        expect((await state(terms)).status).to.equal(STATUS.Split);
      }
    });
  });

  describe("given the word of somebody else, or another word of the buyer", () => {
    it("should refuse an empty signature from anyone but the buyer", async () => {
      const { escrow, buyer, seller, arbiter, stranger, held } = world();
      const terms = await held();
      for (const sender of [seller, arbiter, stranger]) {
        await expect(escrow.connect(sender).split(terms, 1n, "0x"))
          .to.be.revertedWithCustomError(escrow, "NotAuthorized")
          .withArgs(sender.address, buyer.address);
      }
    });

    it("should refuse the buyer's signature over another part or over a release, and the seller's signature", async () => {
      const { escrow, buyer, seller, held, signSplit, signRelease } = world();
      const terms = await held();
      for (const signature of [
        await signSplit(buyer, terms, 1_001n),
        await signRelease(buyer, terms),
        await signSplit(seller, terms, 1_000n),
      ]) {
        await expect(escrow.split(terms, 1_000n, signature))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(buyer.address);
      }
    });
  });

  describe("given a hire that is not held", () => {
    it("should refuse to split it, and should not release a hire after a split", async () => {
      const { escrow, buyer, held, hire, idOf } = world();
      const terms = await held();
      await escrow.connect(buyer).split(terms, 1n, "0x");
      await expect(escrow.connect(buyer).split(terms, 1n, "0x"))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Split, STATUS.Held);
      await expect(escrow.connect(buyer).release(terms, "0x")).to.be.revertedWithCustomError(
        escrow,
        "WrongStatus",
      );
      await expect(escrow.connect(buyer).split(await hire(), 1n, "0x")).to.be.revertedWithCustomError(
        escrow,
        "WrongStatus",
      );
    });
  });
});
