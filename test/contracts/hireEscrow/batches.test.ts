import { expect } from "chai";
import { AMOUNT, FEE, STATUS, useWorld } from "../support/world.ts";

describe("HireEscrow: releaseMany", () => {
  const world = useWorld();

  describe("given hires that can all be released", () => {
    it("should release each by the buyer that sends, or by its signature", async () => {
      const { ethers, escrow, token, buyer, payee, feeRecipient, held, signRelease, state } = world();
      const hires = [await held(), await held(), await held()];
      const signatures = ["0x", await signRelease(buyer, hires[1]!), "0x"];
      await expect(escrow.connect(buyer).releaseMany(hires, signatures)).to.changeTokenBalances(
        ethers,
        token,
        [payee.address, feeRecipient.address],
        [3n * (AMOUNT - FEE), 3n * FEE],
      );
      for (const hire of hires) expect((await state(hire)).status).to.equal(STATUS.Released);
    });

    it("should release hires of several buyers by their signatures, whoever relays", async () => {
      const { escrow, escrowAddress, token, buyer, stranger, seller, hire, held, signRelease, state } =
        world();
      await token.connect(stranger).approve(escrowAddress, AMOUNT);
      const one = await held();
      const other = await hire({ buyer: stranger.address });
      await escrow.connect(stranger).deposit(other);
      const signatures = [await signRelease(buyer, one), await signRelease(stranger, other)];
      await escrow.connect(seller).releaseMany([one, other], signatures);
      expect((await state(one)).status).to.equal(STATUS.Released);
      expect((await state(other)).status).to.equal(STATUS.Released);
    });

    it("should answer which were released", async () => {
      const { escrow, buyer, held, hire } = world();
      const hires = [await held(), await hire(), await held()];
      expect(await escrow.connect(buyer).releaseMany.staticCall(hires, ["0x", "0x", "0x"])).to.deep.equal([
        true,
        false,
        true,
      ]);
    });

    it("should do nothing with no hires", async () => {
      const { ethers, escrow, escrowAddress, token, buyer } = world();
      await expect(escrow.connect(buyer).releaseMany([], [])).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress],
        [0n],
      );
    });
  });

  describe("given a bad item among good ones", () => {
    it("should report its error and release the others", async () => {
      const { escrow, buyer, seller, held, hire, idOf, signRelease, state } = world();
      const never = await hire();
      const settled = await held();
      await escrow.connect(buyer).refund(settled, buyer.address, "0x");
      const forged = await held();
      const [first, last] = [await held(), await held()];
      const hires = [first, never, settled, forged, first, last];
      const signatures = ["0x", "0x", "0x", await signRelease(seller, forged), "0x", "0x"];
      const call = escrow.connect(buyer).releaseMany(hires, signatures);
      const failure = (name: "WrongStatus" | "InvalidSignature", args: unknown[]) =>
        escrow.interface.encodeErrorResult(escrow.interface.getError(name)!, args);
      for (const [item, reason] of [
        [never, failure("WrongStatus", [idOf(never), STATUS.None, STATUS.Held])],
        [settled, failure("WrongStatus", [idOf(settled), STATUS.Refunded, STATUS.Held])],
        [forged, failure("InvalidSignature", [buyer.address])],
        [first, failure("WrongStatus", [idOf(first), STATUS.Released, STATUS.Held])],
      ] as const) {
        await expect(call).to.emit(escrow, "ItemFailed").withArgs(idOf(item), reason);
      }
      expect((await state(first)).status).to.equal(STATUS.Released);
      expect((await state(last)).status).to.equal(STATUS.Released);
      expect((await state(forged)).status).to.equal(STATUS.Held);
    });

    it("should not let a stranger release by the lack of a signature", async () => {
      const { escrow, escrowAddress, buyer, stranger, held, state } = world();
      const hires = [await held(), await held()];
      await escrow.connect(stranger).releaseMany(hires, ["0x", "0x"]);
      for (const hire of hires) expect((await state(hire)).status).to.equal(STATUS.Held);
      // Nor by the contract's being the caller of its own items.
      const own = { ...hires[0]!, buyer: escrowAddress };
      await escrow.connect(buyer).releaseMany([own], ["0x"]);
      expect((await state(hires[0]!)).status).to.equal(STATUS.Held);
    });

    it("should release the others when a buyer's wallet burns all the gas of its item", async () => {
      const { escrow, buyer, held, hire, idOf, state, wallet } = world();
      const greedy = await wallet(buyer);
      const trap = await hire({ buyer: await greedy.getAddress() });
      await greedy
        .connect(buyer)
        .execute(await escrow.getAddress(), escrow.interface.encodeFunctionData("deposit", [trap]));
      await greedy.feel(3n);
      const hires = [await held(), trap, await held()];
      const call = escrow.connect(buyer).releaseMany(hires, ["0x", `0x${"ab".repeat(66)}`, "0x"]);
      await expect(call)
        .to.emit(escrow, "ItemFailed")
        .withArgs(idOf(trap), (reason: string) => reason.length <= 74);
      expect((await state(hires[0]!)).status).to.equal(STATUS.Released);
      expect((await state(hires[2]!)).status).to.equal(STATUS.Released);
      expect((await state(trap)).status).to.equal(STATUS.Held);
    });
  });

  describe("given too little gas for an item", () => {
    it("should fail as a whole instead of failing items that had nothing wrong", async () => {
      const { escrow, buyer, held, state } = world();
      const hires = [await held(), await held()];
      await expect(
        escrow.connect(buyer).releaseMany(hires, ["0x", "0x"], { gasLimit: 1_050_000n }),
      ).to.be.revertedWithCustomError(escrow, "NotEnoughGas");
      expect((await state(hires[0]!)).status).to.equal(STATUS.Held);
      await escrow.connect(buyer).releaseMany(hires, ["0x", "0x"], { gasLimit: 1_200_000n });
      expect((await state(hires[1]!)).status).to.equal(STATUS.Released);
    });
  });

  describe("given more or fewer signatures than hires", () => {
    it("should refuse", async () => {
      const { escrow, buyer, held } = world();
      const hires = [await held()];
      await expect(escrow.connect(buyer).releaseMany(hires, []))
        .to.be.revertedWithCustomError(escrow, "LengthMismatch")
        .withArgs(1n, 0n);
      await expect(escrow.connect(buyer).releaseMany(hires, ["0x", "0x"]))
        .to.be.revertedWithCustomError(escrow, "LengthMismatch")
        .withArgs(1n, 2n);
    });
  });
});

describe("HireEscrow: timeoutRefundMany", () => {
  const world = useWorld();

  it("should send back each whose deadline has come, whoever calls, and report the others", async () => {
    const { ethers, escrow, token, buyer, stranger, held, idOf, pass, now } = world();
    const early = (await now()) + 500n;
    const late = early + 5_000n;
    const [one, notYet, two] = [
      await held({ deadline: early }),
      await held({ deadline: late }),
      await held({ deadline: early }),
    ];
    await pass(one);
    const call = escrow.connect(stranger).timeoutRefundMany([one, notYet, one, two]);
    await expect(call).to.changeTokenBalances(
      ethers,
      token,
      [buyer.address, stranger.address],
      [2n * AMOUNT, 0n],
    );
    const time = await now();
    const tooEarly = escrow.interface.encodeErrorResult("DeadlineNotReached", [time, late]);
    const twice = escrow.interface.encodeErrorResult("WrongStatus", [
      idOf(one),
      STATUS.TimedOut,
      STATUS.Held,
    ]);
    await expect(call).to.emit(escrow, "ItemFailed").withArgs(idOf(notYet), tooEarly);
    await expect(call).to.emit(escrow, "ItemFailed").withArgs(idOf(one), twice);
  });

  it("should answer which were sent back", async () => {
    const { escrow, held, hire, pass } = world();
    const terms = await held();
    const never = await hire({ deadline: terms.deadline });
    await pass(terms);
    expect(await escrow.timeoutRefundMany.staticCall([never, terms])).to.deep.equal([false, true]);
  });

  it("should fail as a whole with too little gas for an item", async () => {
    const { escrow, held, pass, state } = world();
    const terms = await held();
    await pass(terms);
    await expect(escrow.timeoutRefundMany([terms], { gasLimit: 1_000_000n })).to.be.revertedWithCustomError(
      escrow,
      "NotEnoughGas",
    );
    expect((await state(terms)).status).to.equal(STATUS.Held);
  });
});
