import { expect } from "chai";
import { permitFields } from "tallystick-protocol/escrow/permit";
import { AMOUNT, FEE, PROVIDER, STATUS, useWorld, type World } from "../support/world.ts";

/** 200,000 gas for a payment, the 63rd part that the EVM keeps back at a call, and 10,000 gas for the rest. */
const GAS_FOR_A_PAYMENT = 200_000n + 200_000n / 63n + 10_000n;

describe("HireEscrow: boundary cases", () => {
  const world = useWorld();

  it("should pay a fee of one unit", async () => {
    const { escrow, token, ethers, buyer, payee, feeRecipient, held } = world();
    const hire = await held({ fee: 1n });
    await expect(escrow.connect(buyer).release(hire, "0x")).to.changeTokenBalances(
      ethers,
      token,
      [payee.address, feeRecipient.address],
      [AMOUNT - 1n, 1n],
    );
  });

  it("should pay the seller its part of a split when no payee is named", async () => {
    const { escrow, token, ethers, buyer, seller, held } = world();
    const hire = await held({ payee: `0x${"00".repeat(20)}` });
    const toSeller = 200_000n;
    await expect(escrow.connect(buyer).split(hire, toSeller, "0x")).to.changeTokenBalances(
      ethers,
      token,
      [seller.address, buyer.address],
      [toSeller - (FEE * toSeller) / AMOUNT, AMOUNT - toSeller],
    );
  });

  it("should not transfer or credit an amount of zero", async () => {
    const { escrow, token, buyer, held } = world();
    const hire = await held({ fee: 1n });
    const receipt = await (await escrow.connect(buyer).split(hire, 2n, "0x")).wait();
    const named = (name: "Transfer") => token.filters[name]().fragment.topicHash;
    const transfers = receipt?.logs.filter(({ topics }) => topics[0] === named("Transfer")) ?? [];
    expect(transfers, "to payee and buyer; the fee's share of 2 units is nothing").to.have.length(2);
    const credited = escrow.filters.Credited().fragment.topicHash;
    expect(receipt?.logs.filter(({ topics }) => topics[0] === credited)).to.deep.equal([]);
  });
});

describe("HireEscrow: boundary cases of a token that breaks its rules", () => {
  const world = useWorld("HostileToken");

  it("should require an exact amount of gas for a payment", async () => {
    const { escrow, token, buyer, held } = world();
    const hire = await held();
    await token.behave(9n); // Reverts
    const call = escrow.connect(buyer).release.staticCall(hire, "0x", { gasLimit: 150_000n });
    const error = await call.then(() => undefined).catch((it) => it);
    expect(readError(escrow, error)).to.deep.equal(["NotEnoughGas", GAS_FOR_A_PAYMENT]);
  });

  it("should emit how a hire was settled before it emits unpaid amounts", async () => {
    const { escrow, token, networkHelpers, buyer, held } = world();
    const hires = [await held(), await held(), await held(), await held()] as const;
    const [released, divided, refunded, overdue] = hires;
    await token.behave(9n); // Reverts
    const settle = [
      () => escrow.connect(buyer).release(released, "0x"),
      () => escrow.connect(buyer).split(divided, 200_000n, "0x"),
      () => escrow.connect(buyer).refund(refunded, buyer.address, "0x"),
      async () => {
        await networkHelpers.time.increaseTo(overdue.deadline);
        return escrow.timeoutRefund(overdue);
      },
    ];
    const said: (string | undefined)[][] = [];
    for (const send of settle) {
      const receipt = await (await send()).wait();
      said.push((receipt?.logs ?? []).map((log) => escrow.interface.parseLog(log)?.name));
    }
    expect(said).to.deep.equal([
      ["Released", "Credited", "Credited"],
      ["Released", "Credited", "Credited", "Credited"],
      ["Refunded", "Credited"],
      ["TimedOut", "Credited"],
    ]);
  });

  it("should report how much moved, in deposits and withdrawals, also with an earlier balance", async () => {
    const { escrow, token, escrowAddress, buyer, seller, hire, held } = world();
    const settled = await held();
    await token.mint(escrowAddress, 123n);
    await token.behave(3n); // MovesHalf
    const terms = await hire();
    await expect(escrow.depositWithAuthorization(terms, 0n, terms.deadline, "0x"))
      .to.be.revertedWithCustomError(escrow, "AmountMoved")
      .withArgs(AMOUNT / 2n, AMOUNT);

    await token.behave(0n);
    await token.deny(buyer.address, true);
    await escrow.connect(seller).refund(settled, seller.address, "0x");
    await token.deny(buyer.address, false);
    await token.mint(escrowAddress, AMOUNT);
    await token.behave(2n); // TakesFeeFromSender
    await expect(escrow.withdraw(buyer.address))
      .to.be.revertedWithCustomError(escrow, "AmountMoved")
      .withArgs(AMOUNT + AMOUNT / 100n, AMOUNT);
  });
});

describe("HireEscrow: a token that has only the permit with v, r and s", () => {
  const world = useWorld();

  async function plain(w: World) {
    const token = await w.ethers.deployContract("PlainPermitToken");
    const escrow = await w.ethers.deployContract("HireEscrow", [token, w.guardian, PROVIDER]);
    await token.mint(w.buyer, 10n * AMOUNT);
    const hire = await w.hire();
    return { ...w, token, escrow: escrow as unknown as World["escrow"], hire };
  }

  it("should call the permit with v, r and s", async () => {
    const { chain, token, escrow, buyer, hire } = await plain(world());
    const { chainId } = await chain.ethers.provider.getNetwork();
    const message = {
      owner: buyer.address,
      spender: await escrow.getAddress(),
      value: AMOUNT,
      nonce: 0n,
      deadline: hire.deadline,
    };
    const domain = { name: "Plain", version: "1", chainId, verifyingContract: await token.getAddress() };
    const permit = await buyer.signTypedData(domain, { Permit: [...permitFields] }, message);
    await escrow.connect(buyer).depositWithPermit(hire, AMOUNT, hire.deadline, permit, "0x");
    expect((await escrow.stateOf(await escrow.escrowId(hire))).status).to.equal(STATUS.Held);
  });

  it("should pay nothing while the token's balanceOf fails", async () => {
    const { ethers, token, escrow, buyer, hire } = await plain(world());
    await token.connect(buyer).approve(escrow, 10n * AMOUNT);
    await escrow.connect(buyer).deposit(hire);
    await token.lose(true);
    await expect(escrow.connect(buyer).release(hire, "0x")).to.revert(ethers);
    await token.lose(false);
    expect((await escrow.stateOf(await escrow.escrowId(hire))).status).to.equal(STATUS.Held);
    expect(await escrow.credit(hire.seller)).to.equal(0n);
  });
});

describe("HireEscrow: boundary cases of a token that transfers more, or burns gas", () => {
  const bringing = useWorld("HostileToken");

  it("should refuse a deposit that brings one unit more than its amount, by every way of depositing", async () => {
    const { escrow, token, buyer, hire, signHire, state } = bringing();
    await token.behave(14n); // BringsMore
    const terms = await hire();
    const word = await signHire(buyer, terms);
    for (const call of [
      () => escrow.connect(buyer).deposit(terms),
      () => escrow.depositWithAuthorization(terms, 0n, terms.deadline, "0x"),
      () => escrow.depositWithPermit(terms, 0n, 0n, "0x", word),
    ]) {
      await expect(call())
        .to.be.revertedWithCustomError(escrow, "AmountMoved")
        .withArgs(AMOUNT + 1n, AMOUNT);
    }
    expect((await state(terms)).status).to.equal(STATUS.None);
  });

  it("should require the gas only before a payment, and credit a payment that burns its gas and fails", async () => {
    const { escrow, token, buyer, payee, held } = bringing();
    const hire = await held({ fee: 0n });
    await token.behave(11n); // BurnsGas
    // This is enough gas before the payment, and not enough after it.
    await escrow.connect(buyer).release(hire, "0x", { gasLimit: 340_000n });
    expect(await escrow.credit(payee.address)).to.equal(AMOUNT);
  });
});

/** The name and the second argument of a contract error, read from the error of a failed call. */
function readError(
  escrow: World["escrow"],
  error: { data?: string } | undefined,
): [string, bigint] | undefined {
  const parsed = escrow.interface.parseError(error?.data ?? "0x");
  return parsed ? [parsed.name, parsed.args[1] as bigint] : undefined;
}
