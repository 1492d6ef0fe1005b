import { expect } from "chai";
import fc from "fast-check";
import { BATCH_GAS, GAS_EACH } from "../support/batch.ts";
import { AMOUNT, FEE, type Hire, STATUS, useWorld, wrap6492 } from "../support/world.ts";

// Audits of similar escrows found these faults. Each test makes the attack that a finding describes.

const CALLS_INSTEAD_OF_MOVING = 12n;
const REENTERED = "0x3ee5aeb5"; // ReentrancyGuardReentrantCall()

describe("Audit finding: a call back into the escrow makes one transfer count twice", () => {
  const world = useWorld("HostileToken");

  it("should hold no hire if the token makes a second deposit in place of the transfer for the first deposit", async () => {
    const w = world();
    const [outer, inner] = [await w.hire(), await w.hire()];
    const nested = w.escrow.interface.encodeFunctionData("depositWithAuthorization", [
      inner,
      0n,
      inner.deadline,
      "0x",
    ]);
    await w.token.behave(CALLS_INSTEAD_OF_MOVING);
    await w.token.hook(w.escrowAddress, nested);
    await expect(w.escrow.connect(w.buyer).deposit(outer))
      .to.be.revertedWithCustomError(w.escrow, "AmountMoved")
      .withArgs(0n, AMOUNT);
    expect((await w.state(outer)).status).to.equal(STATUS.None);
    expect((await w.state(inner)).status).to.equal(STATUS.None);
  });

  it("should refuse a deposit during a payment, and credit nothing for that payment", async () => {
    const w = world();
    const [paid, nestedHire] = [await w.held(), await w.hire()];
    const nested = w.escrow.interface.encodeFunctionData("depositWithAuthorization", [
      nestedHire,
      0n,
      nestedHire.deadline,
      "0x",
    ]);
    await w.token.hook(w.escrowAddress, nested);
    await w.escrow.connect(w.buyer).release(paid, "0x");
    expect(await w.token.hookRuns()).to.equal(1n);
    expect(await w.token.hookSucceeded()).to.equal(false);
    expect(await w.token.hookResult()).to.equal(REENTERED);
    expect(await w.escrow.credit(w.payee.address)).to.equal(0n);
    expect(await w.token.balanceOf(w.escrowAddress)).to.equal(0n);
  });

  it("should refuse every function that moves or books money while another such function runs", async () => {
    const w = world();
    const [hire, other, late] = [await w.hire(), await w.held(), await w.held()];
    await w.pass(late);
    const now = await w.now();
    const fresh = { ...hire, deadline: now + 1_000n };
    const { interface: abi } = w.escrow;
    const calls = [
      abi.encodeFunctionData("deposit", [fresh]),
      abi.encodeFunctionData("depositWithAuthorization", [fresh, 0n, fresh.deadline, "0x"]),
      abi.encodeFunctionData("depositWithPermit", [fresh, 0n, 0n, "0x", await w.signHire(w.buyer, fresh)]),
      abi.encodeFunctionData("markDelivered", [fresh, fresh.hireId, "0x"]),
      abi.encodeFunctionData("release", [other, await w.signRelease(w.buyer, other)]),
      abi.encodeFunctionData("split", [other, 1n, await w.signSplit(w.buyer, other, 1n)]),
      abi.encodeFunctionData("refund", [other, w.buyer.address, await w.signRefund(w.buyer, other)]),
      abi.encodeFunctionData("timeoutRefund", [late]),
      abi.encodeFunctionData("batch", [[abi.encodeFunctionData("timeoutRefund", [late])], GAS_EACH]),
      abi.encodeFunctionData("withdraw", [w.payee.address]),
    ];
    for (const [i, call] of calls.entries()) {
      await w.token.hook(w.escrowAddress, call);
      const outer = { ...fresh, hireId: `0x${i.toString(16).padStart(64, "0")}` };
      await w.escrow.connect(w.buyer).deposit(outer);
      expect(await w.token.hookRuns()).to.equal(1n);
      expect(await w.token.hookSucceeded()).to.equal(false);
      expect(await w.token.hookResult()).to.equal(REENTERED);
    }
    expect(await w.token.balanceOf(w.escrowAddress)).to.equal(AMOUNT * BigInt(calls.length + 2));
  });

  it("should not call the factory that an ERC-6492 signature names", async () => {
    const w = world();
    const hire = await w.held();
    const mint = w.token.interface.encodeFunctionData("mint", [w.stranger.address, 1_000_000n]);
    const supply = await w.token.totalSupply();
    const wrapped = wrap6492(await w.signRelease(w.buyer, hire), w.tokenAddress, mint);
    await w.escrow.connect(w.stranger).release(hire, wrapped);
    expect(await w.token.totalSupply()).to.equal(supply);
  });
});

describe("Audit finding: a token's denylist blocks payments", () => {
  const world = useWorld("HostileToken");

  it("should pay the other parties when the token bars one party", async () => {
    const w = world();
    for (const barred of [w.payee, w.feeRecipient, w.buyer]) {
      const hire = await w.held();
      await w.token.deny(barred.address, true);
      const before = await w.token.balanceOf(w.escrowAddress);
      await w.escrow.split(hire, AMOUNT / 2n, await w.signSplit(w.buyer, hire, AMOUNT / 2n));
      expect((await w.state(hire)).status).to.equal(STATUS.Split);
      const kept = before - AMOUNT + (await w.escrow.credit(barred.address));
      expect(await w.token.balanceOf(w.escrowAddress)).to.equal(kept);
      await w.token.deny(barred.address, false);
    }
  });

  it("should pay the other items of a batch when the token bars the payee of one item", async () => {
    const w = world();
    const [barred, free] = [await w.held(), await w.held({ payee: w.stranger.address })];
    await w.token.deny(w.payee.address, true);
    const calls = [barred, free].map((hire) =>
      w.escrow.interface.encodeFunctionData("release", [hire, "0x"]),
    );
    await expect(w.escrow.connect(w.buyer).batch(calls, GAS_EACH, BATCH_GAS)).to.changeTokenBalances(
      w.ethers,
      w.token,
      [w.payee.address, w.stranger.address],
      [0n, AMOUNT - FEE],
    );
  });
});

describe("Audit finding: a transfer fails silently and is recorded as paid", () => {
  const world = useWorld("HostileToken");

  for (const [name, behaviour] of [
    ["returns false", 4n],
    ["returns true without moving anything", 6n],
    ["returns nothing without moving anything", 8n],
  ] as const) {
    it(`should credit the money, and emit the credit, when a transfer ${name}`, async () => {
      const w = world();
      const hire = await w.held();
      await w.token.behave(behaviour);
      await expect(w.escrow.connect(w.buyer).release(hire, "0x"))
        .to.emit(w.escrow, "Credited")
        .withArgs(w.payee.address, w.idOf(hire), AMOUNT - FEE);
      expect(await w.escrow.credit(w.payee.address)).to.equal(AMOUNT - FEE);
      await expect(w.escrow.withdraw(w.payee.address)).to.revert(w.ethers);
      expect(await w.escrow.credit(w.payee.address)).to.equal(AMOUNT - FEE);
    });
  }
});

describe("Audit finding: rounding avoids the fee", () => {
  const world = useWorld();

  it("should cost the fee recipient less than one unit in any split", async () => {
    const w = world();
    const split = fc
      .record({ amount: fc.bigInt(2n, 1_000_000n), fee: fc.nat(10_000), part: fc.nat(10_000) })
      .map(({ amount, fee, part }) => ({
        amount,
        fee: (amount * BigInt(fee)) / 10_000n,
        toSeller: 1n + ((amount - 2n) * BigInt(part)) / 10_000n,
      }));
    await fc.assert(
      fc.asyncProperty(split, async ({ amount, fee, toSeller }) => {
        await w.token.mint(w.buyer.address, amount);
        const hire = await w.held({ amount, fee });
        const balance = () => w.token.balanceOf(w.feeRecipient.address);
        const before = await balance();
        await w.escrow.connect(w.buyer).split(hire, toSeller, "0x");
        const share = (await balance()) - before;
        expect(share * amount <= fee * toSeller).to.equal(true);
        expect((share + 1n) * amount > fee * toSeller).to.equal(true);
      }),
      { numRuns: 40 },
    );
  });

  it("should not pay out a hire in many pieces that are too small for a fee", async () => {
    const w = world();
    const hire = await w.held();
    await w.escrow.connect(w.buyer).split(hire, 1n, "0x");
    await expect(w.escrow.connect(w.buyer).split(hire, 1n, "0x")).to.be.revertedWithCustomError(
      w.escrow,
      "WrongStatus",
    );
  });
});

describe("Audit finding: a wallet's signature is replayed for another wallet of the same owner", () => {
  const world = useWorld();

  async function twoWallets() {
    const w = world();
    const [one, other] = [await w.wallet(w.buyer), await w.wallet(w.buyer)];
    const mine = await w.hire({ buyer: await one.getAddress() });
    const theirs: Hire = { ...mine, buyer: await other.getAddress() };
    return { ...w, one, other, mine, theirs };
  }

  it("should accept an authorization, or a signature over a hire, only for the buyer that it names", async () => {
    const w = await twoWallets();
    const authorization = await w.signAuthorization(w.buyer, w.mine);
    await expect(
      w.escrow.depositWithAuthorization(w.theirs, 0n, w.mine.deadline, authorization),
    ).to.be.revertedWithCustomError(w.token, "ERC3009InvalidSignature");
    const signature = await w.signHire(w.buyer, w.mine);
    await expect(w.escrow.depositWithPermit(w.theirs, 0n, 0n, "0x", signature))
      .to.be.revertedWithCustomError(w.escrow, "InvalidSignature")
      .withArgs(w.theirs.buyer);
  });

  it("should accept a release or a split only for the hire that it names, even if all other terms are equal", async () => {
    const w = await twoWallets();
    for (const [wallet, hire] of [
      [w.one, w.mine],
      [w.other, w.theirs],
    ] as const) {
      const deposit = w.escrow.interface.encodeFunctionData("deposit", [hire]);
      await wallet.connect(w.buyer).execute(w.escrowAddress, deposit);
    }
    expect(w.idOf(w.mine)).to.not.equal(w.idOf(w.theirs));
    await expect(
      w.escrow.release(w.theirs, await w.signRelease(w.buyer, w.mine)),
    ).to.be.revertedWithCustomError(w.escrow, "InvalidSignature");
    await expect(
      w.escrow.split(w.theirs, 1n, await w.signSplit(w.buyer, w.mine, 1n)),
    ).to.be.revertedWithCustomError(w.escrow, "InvalidSignature");
    await w.escrow.release(w.mine, await w.signRelease(w.buyer, w.mine));
    expect((await w.state(w.theirs)).status).to.equal(STATUS.Held);
  });

  it("should accept a signed refund only in the name of the party that it names, even if one key signs for two parties", async () => {
    const w = await twoWallets();
    const judge = await w.wallet(w.buyer);
    const hire = { ...w.mine, arbiter: await judge.getAddress() };
    const deposit = w.escrow.interface.encodeFunctionData("deposit", [hire]);
    await w.one.connect(w.buyer).execute(w.escrowAddress, deposit);
    const byBuyer = await w.signRefund(w.buyer, hire, hire.buyer);
    await expect(w.escrow.refund(hire, hire.arbiter, byBuyer))
      .to.be.revertedWithCustomError(w.escrow, "InvalidSignature")
      .withArgs(hire.arbiter);
    await expect(w.escrow.refund(hire, hire.buyer, byBuyer)).to.emit(w.escrow, "Refunded");
  });
});

describe("Audit finding: a hostile contract emits the same events", () => {
  const world = useWorld("HostileToken");

  it("should let readers find only the escrow's own events by its address, also within one transaction", async () => {
    const w = world();
    const spoofer = await w.ethers.deployContract("EventSpoofer");
    const [real, spoofed] = [await w.hire(), await w.hire()];
    const call = spoofer.interface.encodeFunctionData("spoof", [w.idOf(spoofed), spoofed]);
    await w.token.hook(await spoofer.getAddress(), call);
    await w.escrow.connect(w.buyer).deposit(real);
    const deposited = await w.escrow.queryFilter(w.escrow.filters.Deposited());
    expect(deposited.map((event) => event.args.escrowId)).to.deep.equal([w.idOf(real)]);
    expect(await w.escrow.queryFilter(w.escrow.filters.Released())).to.deep.equal([]);
  });

  it("should emit no Released and no TimedOut event for a hire that stays as it was", async () => {
    const w = world();
    const [never, hire] = [await w.hire(), await w.held()];
    const calls = [never, hire].flatMap((terms) => [
      w.escrow.interface.encodeFunctionData("release", [terms, "0x"]),
      w.escrow.interface.encodeFunctionData("timeoutRefund", [terms]),
    ]);
    await w.escrow.connect(w.stranger).batch(calls, GAS_EACH, BATCH_GAS);
    expect(await w.escrow.queryFilter(w.escrow.filters.Released())).to.deep.equal([]);
    expect(await w.escrow.queryFilter(w.escrow.filters.TimedOut())).to.deep.equal([]);
    expect(await w.escrow.queryFilter(w.escrow.filters.Deposited())).to.have.length(1);
  });
});
