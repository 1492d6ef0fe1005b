import { expect } from "chai";
import type { ContractTransactionResponse } from "ethers";
import { BATCH_GAS, GAS_EACH, reportOf } from "../support/batch.ts";
import { AMOUNT, FEE, type Hire, type HostileWorld, STATUS, useWorld } from "../support/world.ts";

const BEHAVIOUR = {
  Honest: 0n,
  TakesFeeFromReceiver: 1n,
  TakesFeeFromSender: 2n,
  MovesHalf: 3n,
  ReturnsFalse: 4n,
  ReturnsFalseButMoves: 5n,
  ReturnsTrueButKeeps: 6n,
  ReturnsNothing: 7n,
  ReturnsNothingAndKeeps: 8n,
  Reverts: 9n,
  RevertsWithBomb: 10n,
  BurnsGas: 11n,
} as const;
type Behaviour = keyof typeof BEHAVIOUR;

/** Every way to settle a hire, and what the escrow then owes to each party. */
const WAYS_OUT: {
  verb: string;
  go: (w: HostileWorld, hire: Hire) => Promise<ContractTransactionResponse>;
  owed: { payee: bigint; feeRecipient: bigint; buyer: bigint };
}[] = [
  {
    verb: "release",
    go: (w, hire) => w.escrow.connect(w.buyer).release(hire, "0x"),
    owed: { payee: AMOUNT - FEE, feeRecipient: FEE, buyer: 0n },
  },
  {
    verb: "release in a batch",
    go: (w, hire) => {
      const call = w.escrow.interface.encodeFunctionData("release", [hire, "0x"]);
      return w.escrow.connect(w.buyer).batch([call], 1_000_000n, BATCH_GAS);
    },
    owed: { payee: AMOUNT - FEE, feeRecipient: FEE, buyer: 0n },
  },
  {
    verb: "split",
    go: (w, hire) => w.escrow.connect(w.buyer).split(hire, 200_000n, "0x"),
    owed: { payee: 190_000n, feeRecipient: 10_000n, buyer: 300_000n },
  },
  {
    verb: "refund",
    go: (w, hire) => w.escrow.connect(w.seller).refund(hire, w.seller.address, "0x"),
    owed: { payee: 0n, feeRecipient: 0n, buyer: AMOUNT },
  },
  {
    verb: "timeoutRefund",
    go: async (w, hire) => {
      await w.pass(hire);
      return w.escrow.timeoutRefund(hire);
    },
    owed: { payee: 0n, feeRecipient: 0n, buyer: AMOUNT },
  },
  {
    verb: "timeoutRefund in a batch",
    go: async (w, hire) => {
      await w.pass(hire);
      const call = w.escrow.interface.encodeFunctionData("timeoutRefund", [hire]);
      return w.escrow.batch([call], 1_000_000n, BATCH_GAS);
    },
    owed: { payee: 0n, feeRecipient: 0n, buyer: AMOUNT },
  },
];

const PARTIES = ["payee", "feeRecipient", "buyer"] as const;

async function credits(w: HostileWorld) {
  const amounts = await Promise.all(PARTIES.map((party) => w.escrow.credit(w[party].address)));
  return Object.fromEntries(PARTIES.map((party, i) => [party, amounts[i]]));
}

async function balances(w: HostileWorld) {
  const accounts = [w.escrowAddress, ...PARTIES.map((party) => w[party].address)];
  return Promise.all(accounts.map((account) => w.token.balanceOf(account)));
}

describe("HireEscrow: deposits with tokens that break their rules", () => {
  const world = useWorld("HostileToken");

  for (const behaviour of [
    "TakesFeeFromReceiver",
    "MovesHalf",
    "ReturnsFalse",
    "ReturnsTrueButKeeps",
    "ReturnsNothingAndKeeps",
    "Reverts",
    "RevertsWithBomb",
    "BurnsGas",
  ] satisfies Behaviour[]) {
    it(`should hold nothing when a transfer ${described(behaviour)}`, async () => {
      const w = world();
      const terms = await w.hire();
      await w.token.behave(BEHAVIOUR[behaviour]);
      if (behaviour === "TakesFeeFromReceiver") await w.token.mint(w.escrowAddress, AMOUNT);
      const signature = `0x${"ab".repeat(65)}`;
      for (const attempt of [
        () => w.escrow.connect(w.buyer).deposit(terms),
        () => w.escrow.connect(w.buyer).depositWithPermit(terms, 0n, 0n, "0x", "0x"),
        () => w.escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ]) {
        await expect(attempt()).to.revert(w.ethers);
      }
      expect((await w.state(terms)).status).to.equal(STATUS.None);
    });
  }

  it("should report the amount that moved and the expected amount", async () => {
    const { escrow, token, hire } = world();
    const terms = await hire();
    await token.behave(BEHAVIOUR.MovesHalf);
    await expect(escrow.depositWithAuthorization(terms, 0n, terms.deadline, "0x"))
      .to.be.revertedWithCustomError(escrow, "AmountMoved")
      .withArgs(AMOUNT / 2n, AMOUNT);
  });

  it("should accept a token whose transfer returns nothing, because the balance decides", async () => {
    const { escrow, token, buyer, hire, state } = world();
    const terms = await hire();
    await token.behave(BEHAVIOUR.ReturnsNothing);
    await escrow.connect(buyer).deposit(terms);
    expect((await state(terms)).status).to.equal(STATUS.Held);
  });

  it("should hold the hire by its allowance when the token has no permit function", async () => {
    const { escrow, buyer, hire, signHire, state } = world();
    const terms = await hire();
    const signature = await signHire(buyer, terms);
    for (const permit of [`0x${"ab".repeat(65)}`, `0x${"ab".repeat(99)}`]) {
      const once = { ...terms, hireId: `0x${permit.length.toString(16).padStart(64, "0")}` };
      await escrow.depositWithPermit(once, AMOUNT, 0n, permit, await signHire(buyer, once));
      expect((await state(once)).status).to.equal(STATUS.Held);
    }
    expect(signature).to.have.length(132);
  });
});

describe("HireEscrow: payments with tokens that break their rules", () => {
  const world = useWorld("HostileToken");

  for (const { verb, go, owed } of WAYS_OUT) {
    for (const behaviour of [
      "ReturnsFalse",
      "ReturnsTrueButKeeps",
      "ReturnsNothingAndKeeps",
      "Reverts",
      "RevertsWithBomb",
      "BurnsGas",
    ] satisfies Behaviour[]) {
      it(`should credit everybody on ${verb} when a transfer ${described(behaviour)}, and pay later`, async () => {
        const w = world();
        const hire = await w.held();
        const before = await balances(w);
        await w.token.behave(BEHAVIOUR[behaviour]);
        await go(w, hire);
        expect(await balances(w)).to.deep.equal(before);
        expect(await credits(w)).to.deep.equal(owed);
        expect((await w.state(hire)).amount).to.equal(0n);

        await w.token.behave(BEHAVIOUR.Honest);
        for (const party of PARTIES) if (owed[party] > 0n) await w.escrow.withdraw(w[party].address);
        const paid = [-AMOUNT, owed.payee, owed.feeRecipient, owed.buyer];
        expect(await balances(w)).to.deep.equal(before.map((balance, i) => balance + paid[i]!));
        expect(await credits(w)).to.deep.equal({ payee: 0n, feeRecipient: 0n, buyer: 0n });
      });
    }

    for (const behaviour of [
      "ReturnsFalseButMoves",
      "ReturnsNothing",
      "TakesFeeFromReceiver",
    ] satisfies Behaviour[]) {
      it(`should credit nobody on ${verb} when a transfer ${described(behaviour)}, because the whole amount left the escrow`, async () => {
        const w = world();
        const hire = await w.held();
        await w.held();
        await w.token.behave(BEHAVIOUR[behaviour]);
        await go(w, hire);
        expect(await credits(w)).to.deep.equal({ payee: 0n, feeRecipient: 0n, buyer: 0n });
        expect(await w.token.balanceOf(w.escrowAddress)).to.equal(AMOUNT);
      });
    }

    it(`should credit the missing half on ${verb} when a transfer moves half`, async () => {
      const w = world();
      const hire = await w.held();
      await w.token.behave(BEHAVIOUR.MovesHalf);
      await go(w, hire);
      const owes = Object.fromEntries(PARTIES.map((party) => [party, owed[party] / 2n]));
      expect(await credits(w)).to.deep.equal(owes);
      expect(await w.token.balanceOf(w.escrowAddress)).to.equal(AMOUNT / 2n);
    });

    it(`should undo the ${verb} when a transfer takes more than its amount, because the excess belongs to others`, async () => {
      const w = world();
      const hire = await w.held();
      await w.held();
      await w.token.behave(BEHAVIOUR.TakesFeeFromSender);
      const call = go(w, hire);
      if (verb.endsWith("in a batch")) {
        // A batch does not revert. It reports the items that failed.
        const { failed } = reportOf(w.escrow.interface, await (await call).wait());
        const selector = w.escrow.interface.getError("AmountMoved")?.selector;
        expect(failed.map(([index, reason]) => [index, reason.slice(0, 10)])).to.deep.equal([[0n, selector]]);
      } else await expect(call).to.be.revertedWithCustomError(w.escrow, "AmountMoved");
      expect((await w.state(hire)).status).to.equal(STATUS.Held);
      expect(await w.token.balanceOf(w.escrowAddress)).to.equal(2n * AMOUNT);
    });
  }

  it("should credit only the party that the token bars, and pay the others", async () => {
    const w = world();
    const hire = await w.held();
    await w.token.deny(w.feeRecipient.address, true);
    const call = w.escrow.connect(w.buyer).release(hire, "0x");
    await expect(call).to.changeTokenBalances(
      w.ethers,
      w.token,
      [w.payee.address, w.feeRecipient.address],
      [AMOUNT - FEE, 0n],
    );
    await expect(call).to.emit(w.escrow, "Credited").withArgs(w.feeRecipient.address, w.idOf(hire), FEE);
    expect(await credits(w)).to.deep.equal({ payee: 0n, feeRecipient: FEE, buyer: 0n });
  });

  it("should add up the credits of several hires and pay them together", async () => {
    const w = world();
    const hires = [await w.held(), await w.held(), await w.held()];
    await w.token.deny(w.payee.address, true);
    const calls = hires.map((hire) => w.escrow.interface.encodeFunctionData("release", [hire, "0x"]));
    await w.escrow.connect(w.buyer).batch(calls, GAS_EACH, BATCH_GAS);
    const owed = 3n * (AMOUNT - FEE);
    expect(await w.escrow.credit(w.payee.address)).to.equal(owed);
    await w.token.deny(w.payee.address, false);
    const call = w.escrow.connect(w.stranger).withdraw(w.payee.address);
    await expect(call).to.changeTokenBalances(
      w.ethers,
      w.token,
      [w.escrowAddress, w.payee.address, w.stranger.address],
      [-owed, owed, 0n],
    );
    await expect(call).to.emit(w.escrow, "Withdrawn").withArgs(w.payee.address, owed);
  });

  it("should credit everybody while the token is paused or bars the escrow, and lose nothing", async () => {
    const w = world();
    const [one, two] = [await w.held(), await w.held()];
    await w.token.pause(true);
    await w.escrow.connect(w.buyer).refund(one, w.buyer.address, "0x");
    await w.token.pause(false);
    await w.token.deny(w.escrowAddress, true);
    await w.escrow.connect(w.buyer).release(two, "0x");
    expect(await credits(w)).to.deep.equal({ payee: AMOUNT - FEE, feeRecipient: FEE, buyer: AMOUNT });
    expect(await w.token.balanceOf(w.escrowAddress)).to.equal(2n * AMOUNT);
  });

  it("should revert, and credit nothing, when the sender gave too little gas for a payment", async () => {
    const w = world();
    const hire = await w.held();
    await w.pass(hire);
    let refused = 0;
    for (let gasLimit = 60_000n; gasLimit <= 300_000n; gasLimit += 10_000n) {
      const done = await w.escrow
        .connect(w.stranger)
        .timeoutRefund(hire, { gasLimit })
        .then(() => true)
        .catch(() => false);
      expect(await w.escrow.credit(w.buyer.address)).to.equal(0n);
      if (done) break;
      refused++;
    }
    expect(refused).to.be.greaterThan(0);
    expect((await w.state(hire)).status).to.equal(STATUS.TimedOut);
  });

  it("should revert with NotEnoughGas when a payment fails with too little gas", async () => {
    const w = world();
    const hire = await w.held();
    await w.token.behave(BEHAVIOUR.Reverts);
    await expect(
      w.escrow.connect(w.buyer).release(hire, "0x", { gasLimit: 200_000n }),
    ).to.be.revertedWithCustomError(w.escrow, "NotEnoughGas");
    await w.escrow.connect(w.buyer).release(hire, "0x");
    expect(await w.escrow.credit(w.payee.address)).to.equal(AMOUNT - FEE);
  });
});

describe("HireEscrow: withdraw", () => {
  const world = useWorld("HostileToken");

  async function credited() {
    const w = world();
    const hire = await w.held();
    await w.token.deny(w.buyer.address, true);
    await w.escrow.connect(w.seller).refund(hire, w.seller.address, "0x");
    await w.token.deny(w.buyer.address, false);
    return w;
  }

  it("should refuse an account without a credit, and pay a credit once", async () => {
    const w = await credited();
    await expect(w.escrow.withdraw(w.payee.address))
      .to.be.revertedWithCustomError(w.escrow, "NothingToWithdraw")
      .withArgs(w.payee.address);
    await w.held();
    await w.escrow.withdraw(w.buyer.address);
    await expect(w.escrow.withdraw(w.buyer.address))
      .to.be.revertedWithCustomError(w.escrow, "NothingToWithdraw")
      .withArgs(w.buyer.address);
  });

  for (const behaviour of [
    "TakesFeeFromSender",
    "MovesHalf",
    "ReturnsFalse",
    "ReturnsFalseButMoves",
    "ReturnsTrueButKeeps",
    "ReturnsNothingAndKeeps",
    "Reverts",
  ] satisfies Behaviour[]) {
    it(`should keep the credit when a transfer ${described(behaviour)}`, async () => {
      const w = await credited();
      await w.held();
      await w.token.behave(BEHAVIOUR[behaviour]);
      await expect(w.escrow.withdraw(w.buyer.address)).to.revert(w.ethers);
      expect(await w.escrow.credit(w.buyer.address)).to.equal(AMOUNT);
      await w.token.behave(BEHAVIOUR.Honest);
      await w.escrow.withdraw(w.buyer.address);
      expect(await w.escrow.credit(w.buyer.address)).to.equal(0n);
    });
  }

  it("should pay with a token whose transfer returns nothing, because the balance shows the payment", async () => {
    const w = await credited();
    await w.token.behave(BEHAVIOUR.ReturnsNothing);
    await expect(w.escrow.withdraw(w.buyer.address)).to.changeTokenBalances(
      w.ethers,
      w.token,
      [w.buyer.address],
      [AMOUNT],
    );
  });
});

/** "ReturnsFalseButMoves" → "returns false but moves". */
function described(behaviour: Behaviour): string {
  return behaviour.replace(/(?<!^)([A-Z])/g, " $1").toLowerCase();
}
