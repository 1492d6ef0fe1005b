import { expect } from "chai";
import { AMOUNT, STATUS, useWorld, ZeroAddress } from "../support/world.ts";

describe("HireEscrow: deposit", () => {
  const world = useWorld();

  describe("given valid terms and an allowance", () => {
    it("should move exactly the amount from the buyer to the escrow and hold it", async () => {
      const { ethers, escrow, token, buyer, seller, payee, escrowAddress, hire, state } = world();
      const terms = await hire({ payee: payee.address });
      await expect(escrow.connect(buyer).deposit(terms)).to.changeTokenBalances(
        ethers,
        token,
        [buyer.address, escrowAddress, seller.address, payee.address],
        [-AMOUNT, AMOUNT, 0n, 0n],
      );
      expect(await state(terms)).to.deep.equal({ status: STATUS.Held, delivered: false, amount: AMOUNT });
    });

    it("should emit all terms, so that a reader can restore the hire from the event", async () => {
      const { escrow, buyer, payee, feeRecipient, arbiter, hire, idOf } = world();
      const terms = await hire({
        payee: payee.address,
        fee: 7n,
        feeRecipient: feeRecipient.address,
        arbiter: arbiter.address,
      });
      await expect(escrow.connect(buyer).deposit(terms))
        .to.emit(escrow, "Deposited")
        .withArgs(
          idOf(terms),
          terms.buyer,
          terms.seller,
          terms.hireId,
          terms.payee,
          terms.amount,
          terms.fee,
          terms.feeRecipient,
          terms.deadline,
          terms.arbiter,
        );
    });

    it("should accept the smallest amount, and a fee that equals it", async () => {
      const { escrow, buyer, feeRecipient, hire, state } = world();
      const terms = await hire({ amount: 1n, fee: 1n, feeRecipient: feeRecipient.address });
      await escrow.connect(buyer).deposit(terms);
      expect((await state(terms)).amount).to.equal(1n);
    });

    it("should accept the largest amount of the type", async () => {
      const { escrow, token, buyer, hire, state, release } = await withRelease();
      const amount = 2n ** 128n - 1n;
      await token.mint(buyer.address, amount);
      const terms = await hire({ amount });
      await escrow.connect(buyer).deposit(terms);
      expect((await state(terms)).amount).to.equal(amount);
      await release(terms);
    });

    it("should let two buyers use the same hireId", async () => {
      const { escrow, escrowAddress, token, buyer, stranger, hire, state } = world();
      await token.connect(stranger).approve(escrowAddress, AMOUNT);
      const one = await hire();
      const other = { ...one, buyer: stranger.address };
      await escrow.connect(buyer).deposit(one);
      await escrow.connect(stranger).deposit(other);
      expect((await state(one)).status).to.equal(STATUS.Held);
      expect((await state(other)).status).to.equal(STATUS.Held);
    });

    async function withRelease() {
      const w = world();
      const release = (terms: Parameters<typeof w.idOf>[0]) => w.escrow.connect(w.buyer).release(terms, "0x");
      return { ...w, release };
    }
  });

  describe("given a sender who is not the buyer", () => {
    it("should refuse the deposit, also if the buyer has given an allowance", async () => {
      const { escrow, seller, hire } = world();
      const terms = await hire();
      await expect(escrow.connect(seller).deposit(terms))
        .to.be.revertedWithCustomError(escrow, "NotAuthorized")
        .withArgs(seller.address, terms.buyer);
    });
  });

  describe("given invalid terms", () => {
    const cases: {
      name: string;
      change: (w: ReturnType<typeof world>) => object | Promise<object>;
      error: string;
      args?: (w: ReturnType<typeof world>) => unknown[];
    }[] = [
      { name: "no amount", change: () => ({ amount: 0n }), error: "AmountIsZero" },
      {
        name: "a fee above the amount",
        change: (w) => ({ fee: AMOUNT + 1n, feeRecipient: w.feeRecipient.address }),
        error: "FeeAboveAmount",
        args: () => [AMOUNT + 1n, AMOUNT],
      },
      {
        name: "a fee that nobody receives",
        change: () => ({ fee: 1n }),
        error: "FeeWithoutRecipient",
        args: () => [1n],
      },
      { name: "no seller", change: () => ({ seller: ZeroAddress }), error: "SellerIsZero" },
      {
        name: "a payee without a seller",
        change: (w) => ({ seller: ZeroAddress, payee: w.payee.address }),
        error: "SellerIsZero",
      },
      {
        name: "the buyer as seller",
        change: (w) => ({ seller: w.buyer.address }),
        error: "BuyerPaysItself",
        args: (w) => [w.buyer.address],
      },
      {
        name: "the buyer as seller behind another payee",
        change: (w) => ({ seller: w.buyer.address, payee: w.payee.address }),
        error: "BuyerPaysItself",
        args: (w) => [w.buyer.address],
      },
      {
        name: "the buyer as payee",
        change: (w) => ({ payee: w.buyer.address }),
        error: "BuyerPaysItself",
        args: (w) => [w.buyer.address],
      },
      {
        name: "the escrow as payee",
        change: (w) => ({ payee: w.escrowAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.escrowAddress],
      },
      {
        name: "the escrow as seller to be paid",
        change: (w) => ({ seller: w.escrowAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.escrowAddress],
      },
      {
        name: "the token as payee",
        change: (w) => ({ payee: w.tokenAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.tokenAddress],
      },
      {
        name: "the token as seller to be paid",
        change: (w) => ({ seller: w.tokenAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.tokenAddress],
      },
      {
        name: "the escrow as fee recipient",
        change: (w) => ({ fee: 1n, feeRecipient: w.escrowAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.escrowAddress],
      },
      {
        name: "the token as fee recipient, also without a fee",
        change: (w) => ({ feeRecipient: w.tokenAddress }),
        error: "ForbiddenRecipient",
        args: (w) => [w.tokenAddress],
      },
      {
        name: "the escrow as seller, also with another payee",
        change: (w) => ({ seller: w.escrowAddress, payee: w.payee.address }),
        error: "EscrowIsParty",
      },
      {
        name: "the escrow as arbiter",
        change: (w) => ({ arbiter: w.escrowAddress }),
        error: "EscrowIsParty",
      },
    ];
    for (const { name, change, error, args } of cases) {
      it(`should refuse ${name}`, async () => {
        const w = world();
        const terms = await w.hire(await change(w));
        const attempt = expect(w.escrow.connect(w.buyer).deposit(terms)).to.be.revertedWithCustomError(
          w.escrow,
          error,
        );
        await (args === undefined ? attempt : attempt.withArgs(...args(w)));
      });
    }

    it("should refuse a deadline that is equal to the block's time, and accept a deadline one second later", async () => {
      const { escrow, buyer, hire, networkHelpers, now } = world();
      const time = (await now()) + 100n;
      const terms = await hire({ deadline: time });
      await networkHelpers.time.setNextBlockTimestamp(time);
      await expect(escrow.connect(buyer).deposit(terms))
        .to.be.revertedWithCustomError(escrow, "DeadlinePassed")
        .withArgs(time, time);
      await networkHelpers.time.setNextBlockTimestamp(time + 1n);
      await expect(escrow.connect(buyer).deposit({ ...terms, deadline: time + 2n })).to.emit(
        escrow,
        "Deposited",
      );
    });

    it("should refuse calldata with extra bits that a field's type does not allow, so that a hire has only one id", async () => {
      const { escrow, escrowAddress, buyer, hire, ethers } = world();
      const terms = await hire();
      const good = escrow.interface.encodeFunctionData("deposit", [terms]);
      for (const field of [1, 2, 3, 4, 5, 6, 7, 8]) {
        const at = 10 + 64 * field;
        const dirty = `${good.slice(0, at)}01${good.slice(at + 2)}`;
        await expect(buyer.sendTransaction({ to: escrowAddress, data: dirty })).to.revert(ethers);
      }
      await expect(buyer.sendTransaction({ to: escrowAddress, data: good })).to.emit(escrow, "Deposited");
    });
  });

  describe("given a hire that was deposited before", () => {
    it("should refuse it while it is held", async () => {
      const { escrow, buyer, held, idOf } = world();
      const terms = await held();
      await expect(escrow.connect(buyer).deposit(terms))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Held, STATUS.None);
    });

    it("should refuse it after it was released, split, refunded or timed out", async () => {
      const { escrow, buyer, held, idOf, pass } = world();
      const released = await held();
      const split = await held();
      const refunded = await held();
      const timedOut = await held({ deadline: released.deadline + 10n });
      await escrow.connect(buyer).release(released, "0x");
      await escrow.connect(buyer).split(split, 1n, "0x");
      await escrow.connect(buyer).refund(refunded, buyer.address, "0x");
      for (const [terms, status] of [
        [released, STATUS.Released],
        [split, STATUS.Split],
        [refunded, STATUS.Refunded],
      ] as const) {
        await expect(escrow.connect(buyer).deposit(terms))
          .to.be.revertedWithCustomError(escrow, "WrongStatus")
          .withArgs(idOf(terms), status, STATUS.None);
      }
      await pass(timedOut);
      await escrow.timeoutRefund(timedOut);
      await expect(escrow.connect(buyer).deposit(timedOut)).to.be.revertedWithCustomError(
        escrow,
        "DeadlinePassed",
      );
    });
  });

  describe("given an allowance that is too small", () => {
    it("should fail with the token's reason and hold nothing", async () => {
      const { escrow, escrowAddress, token, buyer, hire, state } = world();
      const terms = await hire();
      await token.connect(buyer).approve(escrowAddress, AMOUNT - 1n);
      await expect(escrow.connect(buyer).deposit(terms)).to.be.revertedWithCustomError(
        token,
        "ERC20InsufficientAllowance",
      );
      expect((await state(terms)).status).to.equal(STATUS.None);
    });
  });
});
