import { expect } from "chai";
import { BATCH_GAS, errorData, GAS_EACH, reportOf } from "../support/batch.ts";
import { AMOUNT, FEE, type HardhatEthersSigner, type Hire, STATUS, useWorld } from "../support/world.ts";

describe("HireEscrow: batch", () => {
  const world = useWorld();

  /** A world with functions that encode calls, and a `send` that returns the report of its batch. */
  function batching() {
    const w = world();
    const { interface: abi } = w.escrow;
    return {
      ...w,
      abi,
      releaseOf: (hire: Hire, signature = "0x") => abi.encodeFunctionData("release", [hire, signature]),
      timeoutOf: (hire: Hire) => abi.encodeFunctionData("timeoutRefund", [hire]),
      send: async (sender: HardhatEthersSigner, calls: string[], gasEach = GAS_EACH) =>
        reportOf(abi, await (await w.escrow.connect(sender).batch(calls, gasEach, BATCH_GAS)).wait()),
      statuses: async (hires: Hire[]) => {
        const states = await Promise.all(hires.map(w.state));
        return states.map(({ status }) => status);
      },
    };
  }

  describe("given verbs of the escrow as items", () => {
    it("should release and pay each hire of the buyer who sends the batch, with or without the buyer's signature", async () => {
      const w = batching();
      const hires = [await w.held(), await w.held(), await w.held()];
      const signed = await w.signRelease(w.buyer, hires[1]!);
      const calls = hires.map((hire, i) => w.releaseOf(hire, i === 1 ? signed : "0x"));
      await expect(w.escrow.connect(w.buyer).batch(calls, GAS_EACH, BATCH_GAS)).to.changeTokenBalances(
        w.ethers,
        w.token,
        [w.payee.address, w.feeRecipient.address],
        [3n * (AMOUNT - FEE), 3n * FEE],
      );
      expect(await w.statuses(hires)).to.deep.equal(Array(3).fill(STATUS.Released));
    });

    it("should return how many items were tried, also those that failed", async () => {
      const w = batching();
      const calls = [w.releaseOf(await w.held()), w.releaseOf(await w.hire()), w.releaseOf(await w.held())];
      expect(await w.escrow.connect(w.buyer).batch.staticCall(calls, GAS_EACH)).to.equal(3n);
      expect(await w.escrow.batch.staticCall([], GAS_EACH)).to.equal(0n);
      expect(await w.send(w.stranger, [])).to.deep.equal({ failed: [], stopped: undefined });
    });

    it("should run whole hires in one transaction: the buyer's verbs, and the delivery that the seller signed", async () => {
      const w = batching();
      const [released, split, refunded] = [await w.hire(), await w.hire(), await w.hire()];
      const permitted = await w.hire();
      const authorized = await w.hire();
      const calls = [
        w.abi.encodeFunctionData("deposit", [released]),
        w.abi.encodeFunctionData("deposit", [split]),
        w.abi.encodeFunctionData("deposit", [refunded]),
        w.abi.encodeFunctionData("depositWithPermit", [permitted, 0n, 0n, "0x", "0x"]),
        w.abi.encodeFunctionData("depositWithAuthorization", [
          authorized,
          0n,
          authorized.deadline,
          await w.signAuthorization(w.buyer, authorized),
        ]),
        w.abi.encodeFunctionData("markDelivered", [
          released,
          released.hireId,
          await w.signDelivered(w.seller, released, released.hireId),
        ]),
        w.releaseOf(released),
        w.abi.encodeFunctionData("split", [split, 1n, "0x"]),
        w.abi.encodeFunctionData("refund", [refunded, w.buyer.address, "0x"]),
      ];
      expect(await w.send(w.buyer, calls)).to.deep.equal({ failed: [], stopped: undefined });
      expect(await w.statuses([released, split, refunded, permitted, authorized])).to.deep.equal([
        STATUS.Released,
        STATUS.Split,
        STATUS.Refunded,
        STATUS.Held,
        STATUS.Held,
      ]);
      expect((await w.state(released)).delivered).to.equal(true);
    });

    it("should refund each item whose deadline has come, for any caller, and report the others", async () => {
      const w = batching();
      const early = (await w.now()) + 500n;
      const [one, notYet, two] = [
        await w.held({ deadline: early }),
        await w.held({ deadline: early + 5_000n }),
        await w.held({ deadline: early }),
      ];
      await w.pass(one);
      const call = w.escrow
        .connect(w.stranger)
        .batch([one, notYet, one, two].map(w.timeoutOf), GAS_EACH, BATCH_GAS);
      await expect(call).to.changeTokenBalances(
        w.ethers,
        w.token,
        [w.buyer.address, w.stranger.address],
        [2n * AMOUNT, 0n],
      );
      const report = reportOf(w.abi, await (await call).wait());
      expect(report.failed).to.deep.equal([
        [1n, errorData(w.abi, "DeadlineNotReached", [await w.now(), notYet.deadline])],
        [2n, errorData(w.abi, "WrongStatus", [w.idOf(one), STATUS.TimedOut, STATUS.Held])],
      ]);
    });

    it("should let the guardian pause, and let a stranger neither pause nor unpause", async () => {
      const w = batching();
      const calls = [w.abi.encodeFunctionData("pause", [60n]), w.abi.encodeFunctionData("unpause")];
      const refusal = errorData(w.abi, "NotAuthorized", [w.stranger.address, w.guardian.address]);
      expect((await w.send(w.stranger, calls)).failed).to.deep.equal([
        [0n, refusal],
        [1n, refusal],
      ]);
      expect((await w.send(w.guardian, calls.slice(0, 1))).failed).to.deep.equal([]);
      expect(await w.escrow.pausedUntil()).to.equal((await w.now()) + 60n);
    });
  });

  describe("given calls that the sender may not make", () => {
    it("should run each item as a call of the batch's sender, so that a stranger gets no rights", async () => {
      const w = batching();
      const terms = await w.held();
      const calls = [
        w.releaseOf(terms),
        w.abi.encodeFunctionData("split", [terms, 1n, "0x"]),
        w.abi.encodeFunctionData("refund", [terms, w.buyer.address, "0x"]),
        w.abi.encodeFunctionData("refund", [terms, w.seller.address, "0x"]),
        w.abi.encodeFunctionData("refund", [terms, w.arbiter.address, "0x"]),
        w.abi.encodeFunctionData("markDelivered", [terms, terms.hireId, "0x"]),
        w.abi.encodeFunctionData("deposit", [await w.hire()]),
        w.abi.encodeFunctionData("depositWithPermit", [await w.hire(), 0n, 0n, "0x", "0x"]),
      ];
      const expected = [w.buyer, w.buyer, w.buyer, w.seller, w.arbiter, w.seller, w.buyer, w.buyer];
      expect((await w.send(w.stranger, calls)).failed).to.deep.equal(
        expected.map(({ address }, i) => [
          BigInt(i),
          errorData(w.abi, "NotAuthorized", [w.stranger.address, address]),
        ]),
      );
      expect(await w.state(terms)).to.deep.equal({ status: STATUS.Held, delivered: false, amount: AMOUNT });
    });

    it("should hold no hire in which the escrow itself is a party", async () => {
      const w = batching();
      for (const change of [
        { seller: w.escrowAddress, payee: w.payee.address },
        { arbiter: w.escrowAddress },
        { seller: w.escrowAddress, payee: w.payee.address, arbiter: w.escrowAddress },
        { buyer: w.escrowAddress },
      ]) {
        const terms = await w.hire(change);
        const call = w.abi.encodeFunctionData("depositWithAuthorization", [terms, 0n, 1n, "0x"]);
        expect((await w.send(w.buyer, [call])).failed).to.deep.equal([
          [0n, errorData(w.abi, "EscrowIsParty")],
        ]);
      }
    });

    it("should refuse a batch inside a batch, and continue with the other items", async () => {
      const w = batching();
      const [inside, outside] = [await w.held(), await w.held()];
      const nested = w.abi.encodeFunctionData("batch", [[w.releaseOf(inside)], 100_000n]);
      const empty = w.abi.encodeFunctionData("batch", [[], 0n]);
      const report = await w.send(w.buyer, [nested, empty, w.releaseOf(outside)]);
      const refusal = errorData(w.abi, "BatchInBatch");
      expect(report.failed).to.deep.equal([
        [0n, refusal],
        [1n, refusal],
      ]);
      expect(await w.statuses([inside, outside])).to.deep.equal([STATUS.Held, STATUS.Released]);
    });

    it("should refuse ether, because each item would count the same ether again", async () => {
      const w = batching();
      const data = w.abi.encodeFunctionData("batch", [[], 0n]);
      await expect(
        w.buyer.sendTransaction({ to: w.escrowAddress, data, value: 1n }),
      ).to.be.revertedWithoutReason(w.ethers);
    });
  });

  describe("given items that fail", () => {
    it("should report their positions and errors, and do the other items", async () => {
      const w = batching();
      const never = await w.hire();
      const settled = await w.held();
      await w.escrow.connect(w.buyer).refund(settled, w.buyer.address, "0x");
      const forged = await w.held();
      const [first, last] = [await w.held(), await w.held()];
      const report = await w.send(w.buyer, [
        w.releaseOf(first),
        w.releaseOf(never),
        w.releaseOf(settled),
        w.releaseOf(forged, await w.signRelease(w.seller, forged)),
        w.releaseOf(first),
        w.releaseOf(last),
      ]);
      expect(report.failed).to.deep.equal([
        [1n, errorData(w.abi, "WrongStatus", [w.idOf(never), STATUS.None, STATUS.Held])],
        [2n, errorData(w.abi, "WrongStatus", [w.idOf(settled), STATUS.Refunded, STATUS.Held])],
        [3n, errorData(w.abi, "InvalidSignature", [w.buyer.address])],
        [4n, errorData(w.abi, "WrongStatus", [w.idOf(first), STATUS.Released, STATUS.Held])],
      ]);
      expect(await w.statuses([first, last, forged])).to.deep.equal([
        STATUS.Released,
        STATUS.Released,
        STATUS.Held,
      ]);
    });

    it("should report an empty error for bytes that are no call of a function", async () => {
      const w = batching();
      const hire = await w.held();
      const whole = w.releaseOf(hire);
      // No bytes, an incomplete selector, missing arguments, incomplete arguments, and an unknown selector.
      const calls = ["0x", whole.slice(0, 8), whole.slice(0, 10), whole.slice(0, -64), "0xdeadbeef", whole];
      expect((await w.send(w.buyer, calls)).failed).to.deep.equal(
        [0n, 1n, 2n, 3n, 4n].map((index) => [index, "0x"]),
      );
      expect((await w.state(hire)).status).to.equal(STATUS.Released);
    });

    it("should do the other items when a buyer's wallet burns all the gas of its item, or returns half a megabyte", async () => {
      const w = batching();
      for (const mood of [3n, 4n]) {
        const greedy = await w.wallet(w.buyer);
        const trap = await w.hire({ buyer: await greedy.getAddress() });
        const deposit = w.abi.encodeFunctionData("deposit", [trap]);
        await greedy.connect(w.buyer).execute(w.escrowAddress, deposit);
        await greedy.feel(mood);
        const hires = [await w.held(), await w.held()];
        const spring = w.releaseOf(trap, `0x${"ab".repeat(66)}`);
        const report = await w.send(w.buyer, [
          w.releaseOf(hires[0]!),
          spring,
          spring,
          w.releaseOf(hires[1]!),
        ]);
        expect(report.failed.map(([index]) => index)).to.deep.equal([1n, 2n]);
        expect(report.stopped).to.equal(undefined);
        expect(await w.statuses([...hires, trap])).to.deep.equal([
          STATUS.Released,
          STATUS.Released,
          STATUS.Held,
        ]);
      }
    });
  });

  describe("given several batches and verbs in one transaction", () => {
    it("should begin each of them with a clean state: no reentrancy guard stays set after a failure", async () => {
      const w = batching();
      const wallet = await w.wallet(w.buyer);
      const buyer = await wallet.getAddress();
      const hires = await Promise.all(Array.from({ length: 4 }, () => w.hire({ buyer })));
      const calls = hires.map((hire) => w.abi.encodeFunctionData("deposit", [hire]));
      await wallet
        .connect(w.buyer)
        .execute(w.escrowAddress, w.abi.encodeFunctionData("batch", [calls, GAS_EACH]), BATCH_GAS);
      const [one, two, three, four] = hires.map((hire) => w.releaseOf(hire)) as [
        string,
        string,
        string,
        string,
      ];
      const batch = (items: string[], gasEach = GAS_EACH) =>
        w.abi.encodeFunctionData("batch", [items, gasEach]);
      // The first item of the third batch is a release that runs out of gas while its reentrancy guard is set.
      const sequence = [
        batch([one]),
        batch([batch([two])]),
        batch([two, "0x", one], 12_000n),
        batch([two]),
        three,
        batch([], 2n ** 256n - 1n),
        batch([four], 2n ** 256n - 1n),
        batch([four]),
      ];
      const sent = await wallet.connect(w.buyer).executeAll(w.escrowAddress, sequence, BATCH_GAS);
      const receipt = await sent.wait();
      expect(reportOf(w.abi, receipt).failed).to.deep.equal([
        [0n, errorData(w.abi, "BatchInBatch")],
        [0n, "0x"],
        [1n, "0x"],
        [2n, errorData(w.abi, "WrongStatus", [w.idOf(hires[0]!), STATUS.Released, STATUS.Held])],
      ]);
      expect(reportOf(w.abi, receipt).stopped).to.equal(0n);
      expect(await w.statuses(hires)).to.deep.equal(Array(4).fill(STATUS.Released));
    });
  });
});

describe("HireEscrow: a batch with a token that calls back", () => {
  const world = useWorld("HostileToken");
  const REENTERED = "0x3ee5aeb5"; // ReentrancyGuardReentrantCall()

  it("should refuse a release, and another batch, while an item of a batch runs", async () => {
    const w = world();
    const { interface: abi } = w.escrow;
    const [first, second] = [await w.held(), await w.held()];
    const release = async (hire: Hire) =>
      abi.encodeFunctionData("release", [hire, await w.signRelease(w.buyer, hire)]);
    const attack = await release(second);
    for (const call of [
      attack,
      abi.encodeFunctionData("batch", [[attack], GAS_EACH]),
      abi.encodeFunctionData("batch", [[], 0n]),
    ]) {
      const paid = await w.held();
      await w.token.hook(w.escrowAddress, call);
      await w.escrow.connect(w.buyer).batch([await release(paid)], GAS_EACH, BATCH_GAS);
      expect(await w.token.hookRuns()).to.equal(1n);
      expect(await w.token.hookSucceeded()).to.equal(false);
      expect(await w.token.hookResult()).to.equal(REENTERED);
      expect((await w.state(paid)).status).to.equal(STATUS.Released);
    }
    expect((await w.state(first)).status).to.equal(STATUS.Held);
    expect((await w.state(second)).status).to.equal(STATUS.Held);
  });

  it("should pay a hire only once if a batch releases it twice and the token calls back to release it a third time", async () => {
    const w = world();
    const { interface: abi } = w.escrow;
    const [hire, other] = [await w.held(), await w.held()];
    const release = abi.encodeFunctionData("release", [hire, await w.signRelease(w.buyer, hire)]);
    await w.token.hook(w.escrowAddress, release);
    await expect(
      w.escrow.connect(w.stranger).batch([release, release], GAS_EACH, BATCH_GAS),
    ).to.changeTokenBalances(w.ethers, w.token, [w.payee.address, w.escrowAddress], [AMOUNT - FEE, -AMOUNT]);
    expect((await w.state(other)).status).to.equal(STATUS.Held);
  });

  it("should undo everything of an item that fails: the hire's state, the transfer, the events", async () => {
    const w = world();
    const { interface: abi } = w.escrow;
    const [hire, good] = [await w.held(), await w.held({ payee: w.stranger.address })];
    // The token takes a hundredth more than the payment to the payee. So the whole item reverts.
    await w.token.behave(2n); // TakesFeeFromSender
    const release = (it: Hire) => abi.encodeFunctionData("release", [it, "0x"]);
    const receipt = await (
      await w.escrow.connect(w.buyer).batch([release(hire)], GAS_EACH, BATCH_GAS)
    ).wait();
    const report = reportOf(abi, receipt);
    expect(report.failed).to.deep.equal([
      [0n, errorData(abi, "AmountMoved", [((AMOUNT - FEE) * 101n) / 100n, AMOUNT - FEE])],
    ]);
    expect(receipt?.logs).to.have.length(1);
    expect(await w.state(hire)).to.deep.equal({ status: STATUS.Held, delivered: false, amount: AMOUNT });
    expect(await w.token.balanceOf(w.escrowAddress)).to.equal(2n * AMOUNT);
    await w.token.behave(0n);
    await w.escrow.connect(w.buyer).batch([release(hire), release(good)], GAS_EACH, BATCH_GAS);
    expect((await w.state(hire)).status).to.equal(STATUS.Released);
  });

  it("should credit a barred payee only if its item has enough gas for a whole payment", async () => {
    const w = world();
    const hire = await w.held();
    await w.token.deny(w.payee.address, true);
    const call = w.escrow.interface.encodeFunctionData("release", [hire, "0x"]);
    const batch = async (gasEach: bigint) =>
      reportOf(
        w.escrow.interface,
        await (await w.escrow.connect(w.buyer).batch([call], gasEach, BATCH_GAS)).wait(),
      ).failed.map(([, reason]) => reason.slice(0, 10));
    expect(await batch(220_000n)).to.deep.equal([w.escrow.interface.getError("NotEnoughGas")?.selector]);
    expect((await w.state(hire)).status).to.equal(STATUS.Held);
    expect(await batch(GAS_EACH)).to.deep.equal([]);
    expect(await w.escrow.credit(w.payee.address)).to.equal(AMOUNT - FEE);
  });

  it("should emit at most 256 bytes of an error, and a shorter error completely", async () => {
    const w = world();
    await w.token.behave(13n); // RevertsWithWords
    const words = (length: number) => `0x${"c7".repeat(length)}`;
    const terms = await w.hire();
    const call = w.escrow.interface.encodeFunctionData("depositWithAuthorization", [terms, 0n, 1n, "0x"]);
    const receipts = [];
    for (const length of [256, 0, 1, 33, 255, 257, 3_000]) {
      await w.token.say(words(length));
      receipts.push({
        length,
        receipt: await (await w.escrow.batch([call, call], GAS_EACH, BATCH_GAS)).wait(),
      });
    }
    for (const { length, receipt } of receipts) {
      const expected = words(Math.min(length, 256));
      expect(reportOf(w.escrow.interface, receipt).failed).to.deep.equal([
        [0n, expected],
        [1n, expected],
      ]);
    }
    await w.token.behave(10n); // RevertsWithBomb
    const bombed = reportOf(
      w.escrow.interface,
      await (await w.escrow.batch([call], 3_000_000n, BATCH_GAS)).wait(),
    );
    expect(bombed.failed.map(([, reason]) => reason.length)).to.deep.equal([2 + 2 * 256]);
  });
});
