import { expect } from "chai";
import { AMOUNT, STATUS, useWorld, wrap6492 } from "../support/world.ts";

describe("HireEscrow: depositWithPermit", () => {
  const world = useWorld();

  /** A buyer without an allowance, and everything that it signs. */
  async function signedByBuyer() {
    const w = world();
    await w.token.connect(w.buyer).approve(w.escrowAddress, 0n);
    const terms = await w.hire();
    const until = terms.deadline;
    const permit = await w.signPermit(w.buyer, w.buyer.address, AMOUNT, until);
    const signature = await w.signHire(w.buyer, terms);
    return { ...w, terms, until, permit, signature };
  }

  describe("given the buyer's permit and its signature over the hire", () => {
    it("should hold the amount, whoever sends them", async () => {
      const {
        ethers,
        escrow,
        escrowAddress,
        token,
        buyer,
        stranger,
        terms,
        until,
        permit,
        signature,
        state,
      } = await signedByBuyer();
      await expect(
        escrow.connect(stranger).depositWithPermit(terms, AMOUNT, until, permit, signature),
      ).to.changeTokenBalances(ethers, token, [buyer.address, escrowAddress], [-AMOUNT, AMOUNT]);
      expect(await state(terms)).to.deep.equal({ status: STATUS.Held, delivered: false, amount: AMOUNT });
    });

    it("should hold the amount even if somebody used the permit before", async () => {
      const { escrow, escrowAddress, token, buyer, stranger, terms, until, permit, signature, state } =
        await signedByBuyer();
      await token
        .connect(stranger)
        ["permit(address,address,uint256,uint256,bytes)"](
          buyer.address,
          escrowAddress,
          AMOUNT,
          until,
          permit,
        );
      await escrow.depositWithPermit(terms, AMOUNT, until, permit, signature);
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should use an existing allowance when there is no permit", async () => {
      const { escrow, buyer, hire, signHire, state } = world();
      const terms = await hire();
      await escrow.depositWithPermit(terms, 0n, 0n, "0x", await signHire(buyer, terms));
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should need no signature over the hire if the buyer itself sends the deposit", async () => {
      const { escrow, buyer, terms, until, permit, state } = await signedByBuyer();
      await escrow.connect(buyer).depositWithPermit(terms, AMOUNT, until, permit, "0x");
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should accept wrapped signatures", async () => {
      const { escrow, terms, until, permit, signature, state } = await signedByBuyer();
      await escrow.depositWithPermit(terms, AMOUNT, until, wrap6492(permit), wrap6492(signature));
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should pass a contract wallet's longer permit signature to the token unchanged", async () => {
      const { ethers, escrow, escrowAddress, token, tokenAddress, buyer, hire, state, until, wallet } =
        await signedByBuyer();
      const purchaser = await wallet(buyer);
      const owner = await purchaser.getAddress();
      const withdrawal = token.interface.encodeFunctionData("approve", [escrowAddress, 0n]);
      await purchaser.connect(buyer).execute(tokenAddress, withdrawal);
      await purchaser.feel(1n);
      const terms = await hire({ buyer: owner });
      const long = `0x${"ab".repeat(130)}`;
      await expect(escrow.depositWithPermit(terms, AMOUNT, until, long, long)).to.changeTokenBalances(
        ethers,
        token,
        [owner, escrowAddress],
        [-AMOUNT, AMOUNT],
      );
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });
  });

  describe("given an allowance, but no signature of the buyer over the hire", () => {
    it("should refuse somebody else's signature over the hire", async () => {
      const { escrow, buyer, seller, hire, signHire } = world();
      const terms = await hire();
      await expect(escrow.depositWithPermit(terms, 0n, 0n, "0x", await signHire(seller, terms)))
        .to.be.revertedWithCustomError(escrow, "InvalidSignature")
        .withArgs(buyer.address);
    });

    it("should refuse a signature over other terms", async () => {
      const { escrow, buyer, stranger, hire, signHire } = world();
      const terms = await hire();
      const signature = await signHire(buyer, terms);
      const changed = { ...terms, payee: stranger.address };
      await expect(escrow.depositWithPermit(changed, 0n, 0n, "0x", signature)).to.be.revertedWithCustomError(
        escrow,
        "InvalidSignature",
      );
    });

    it("should refuse an empty signature from anyone but the buyer", async () => {
      const { escrow, buyer, stranger, hire } = world();
      await expect(escrow.connect(stranger).depositWithPermit(await hire(), 0n, 0n, "0x", "0x"))
        .to.be.revertedWithCustomError(escrow, "NotAuthorized")
        .withArgs(stranger.address, buyer.address);
    });

    it("should refuse the same signature a second time", async () => {
      const { escrow, buyer, hire, signHire, idOf } = world();
      const terms = await hire();
      const signature = await signHire(buyer, terms);
      await escrow.depositWithPermit(terms, 0n, 0n, "0x", signature);
      await escrow.connect(buyer).release(terms, "0x");
      await expect(escrow.depositWithPermit(terms, 0n, 0n, "0x", signature))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Released, STATUS.None);
    });
  });

  describe("given a permit that the token refuses and no allowance", () => {
    it("should fail with the token's error about the allowance, and hold nothing", async () => {
      const { escrow, token, terms, until, signature, seller, buyer, signPermit, state } =
        await signedByBuyer();
      const forged = await signPermit(seller, buyer.address, AMOUNT, until);
      for (const permit of [forged, `0x${"ab".repeat(100)}`, "0x"]) {
        await expect(
          escrow.depositWithPermit(terms, AMOUNT, until, permit, signature),
        ).to.be.revertedWithCustomError(token, "ERC20InsufficientAllowance");
      }
      expect((await state(terms)).status).to.equal(STATUS.None);
    });
  });
});
