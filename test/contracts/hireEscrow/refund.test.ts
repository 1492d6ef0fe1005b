import { expect } from "chai";
import { AMOUNT, STATUS, useWorld, ZeroAddress } from "../support/world.ts";

describe("HireEscrow: refund", () => {
  const world = useWorld();

  describe("given a held hire and the word of a party", () => {
    for (const party of ["buyer", "seller", "arbiter"] as const) {
      it(`should refund the whole amount when the ${party} sends the refund`, async () => {
        const w = world();
        const terms = await w.held();
        const call = w.escrow.connect(w[party]).refund(terms, w[party].address, "0x");
        await expect(call).to.changeTokenBalances(
          w.ethers,
          w.token,
          [w.escrowAddress, w.buyer.address, w.payee.address, w.feeRecipient.address],
          [-AMOUNT, AMOUNT, 0n, 0n],
        );
        await expect(call)
          .to.emit(w.escrow, "Refunded")
          .withArgs(w.idOf(terms), w.buyer.address, w.seller.address, AMOUNT, w[party].address);
        expect(await w.state(terms)).to.deep.equal({ status: STATUS.Refunded, delivered: false, amount: 0n });
      });

      it(`should refund the whole amount when anyone sends the signature of the ${party}`, async () => {
        const w = world();
        const terms = await w.held();
        const signature = await w.signRefund(w[party], terms);
        await expect(
          w.escrow.connect(w.stranger).refund(terms, w[party].address, signature),
        ).to.changeTokenBalances(w.ethers, w.token, [w.buyer.address, w.stranger.address], [AMOUNT, 0n]);
      });
    }

    it("should refund after the deadline, and after the delivery was marked", async () => {
      const { escrow, buyer, seller, held, pass, state } = world();
      const terms = await held();
      await escrow.connect(seller).markDelivered(terms, terms.hireId, "0x");
      await pass(terms);
      await escrow.connect(buyer).refund(terms, buyer.address, "0x");
      expect(await state(terms)).to.deep.equal({ status: STATUS.Refunded, delivered: true, amount: 0n });
    });
  });

  describe("given a signer who is not a party", () => {
    it("should refuse payee, fee recipient, guardian and strangers", async () => {
      const { escrow, payee, feeRecipient, guardian, stranger, held, signRefund } = world();
      const terms = await held();
      for (const signer of [payee, feeRecipient, guardian, stranger]) {
        await expect(escrow.connect(signer).refund(terms, signer.address, "0x"))
          .to.be.revertedWithCustomError(escrow, "NotAParty")
          .withArgs(signer.address);
        await expect(escrow.refund(terms, signer.address, await signRefund(signer, terms)))
          .to.be.revertedWithCustomError(escrow, "NotAParty")
          .withArgs(signer.address);
      }
    });

    it("should refuse an arbiter that this hire does not name", async () => {
      const { escrow, arbiter, held } = world();
      const terms = await held({ arbiter: ZeroAddress });
      await expect(escrow.connect(arbiter).refund(terms, arbiter.address, "0x"))
        .to.be.revertedWithCustomError(escrow, "NotAParty")
        .withArgs(arbiter.address);
    });

    it("should not treat a missing arbiter as an arbiter", async () => {
      const { escrow, held } = world();
      const terms = await held({ arbiter: ZeroAddress });
      for (const signature of ["0x", `0x${"00".repeat(65)}`]) {
        await expect(escrow.refund(terms, ZeroAddress, signature))
          .to.be.revertedWithCustomError(escrow, "NotAParty")
          .withArgs(ZeroAddress);
      }
    });
  });

  describe("given the name of a party, but not its word", () => {
    it("should refuse an empty signature from another sender", async () => {
      const { escrow, buyer, seller, stranger, held } = world();
      const terms = await held();
      await expect(escrow.connect(stranger).refund(terms, seller.address, "0x"))
        .to.be.revertedWithCustomError(escrow, "NotAuthorized")
        .withArgs(stranger.address, seller.address);
      await expect(escrow.connect(seller).refund(terms, buyer.address, "0x"))
        .to.be.revertedWithCustomError(escrow, "NotAuthorized")
        .withArgs(seller.address, buyer.address);
    });

    it("should refuse one party's signature in another's name", async () => {
      const { escrow, buyer, seller, held, signRefund } = world();
      const terms = await held();
      for (const signature of [
        await signRefund(seller, terms, buyer.address),
        await signRefund(buyer, terms, seller.address),
      ]) {
        await expect(escrow.refund(terms, buyer.address, signature))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(buyer.address);
      }
    });

    it("should refuse a signature over another hire", async () => {
      const { escrow, seller, held, signRefund } = world();
      const terms = await held();
      const elsewhere = await held();
      await expect(escrow.refund(terms, seller.address, await signRefund(seller, elsewhere)))
        .to.be.revertedWithCustomError(escrow, "InvalidSignature")
        .withArgs(seller.address);
    });
  });

  describe("given a hire that is not held", () => {
    it("should refuse a hire that was never deposited, and refund nothing twice", async () => {
      const { escrow, buyer, seller, hire, held, idOf } = world();
      const never = await hire();
      await expect(escrow.connect(buyer).refund(never, buyer.address, "0x"))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(never), STATUS.None, STATUS.Held);
      const terms = await held();
      await held();
      await escrow.connect(seller).refund(terms, seller.address, "0x");
      await expect(escrow.connect(buyer).refund(terms, buyer.address, "0x"))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Refunded, STATUS.Held);
    });
  });
});
