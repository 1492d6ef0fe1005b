import { expect } from "chai";
import { Contract, concat } from "ethers";
import { deployGuardianSafe } from "../../../scripts/ignition/deployGuardianSafe.ts";
import { safeArtifact } from "../../../scripts/ignition/modules/GuardianSafe.ts";
import type { HireEscrow } from "../../../types/ethers-contracts/index.ts";
import { BATCH_GAS, GAS_EACH } from "../support/batch.ts";
import { BUILD_TIMEOUT, freshChain, type HardhatEthersSigner } from "../support/chain.ts";
import { newWorld, PROVIDER, STATUS, useWorld, ZeroAddress } from "../support/world.ts";

const DAY = 86_400n;

describe("HireEscrow: pause and unpause", () => {
  const world = useWorld();

  describe("given the guardian", () => {
    it("should stop deposits of every kind until the pause ends, and emit its end", async () => {
      const { escrow, guardian, buyer, hire, now, signAuthorization, signHire } = world();
      const terms = await hire({ deadline: (await now()) + 100n * DAY });
      await expect(escrow.connect(guardian).pause(DAY)).to.emit(escrow, "Paused");
      const until = (await now()) + DAY;
      expect(await escrow.pausedUntil()).to.equal(until);
      const authorization = await signAuthorization(buyer, terms);
      const signature = await signHire(buyer, terms);
      for (const attempt of [
        () => escrow.connect(buyer).deposit(terms),
        () => escrow.depositWithAuthorization(terms, 0n, terms.deadline, authorization),
        () => escrow.depositWithPermit(terms, 0n, 0n, "0x", signature),
      ]) {
        await expect(attempt()).to.be.revertedWithCustomError(escrow, "DepositsPaused");
      }
    });

    it("should end the pause by itself, exactly at the emitted second", async () => {
      const { escrow, guardian, buyer, hire, now, networkHelpers, state } = world();
      const terms = await hire({ deadline: (await now()) + 100n * DAY });
      await escrow.connect(guardian).pause(DAY);
      const until = await escrow.pausedUntil();
      await networkHelpers.time.setNextBlockTimestamp(until - 1n);
      await expect(escrow.connect(buyer).deposit(terms))
        .to.be.revertedWithCustomError(escrow, "DepositsPaused")
        .withArgs(until - 1n, until);
      await networkHelpers.time.setNextBlockTimestamp(until);
      await escrow.connect(buyer).deposit(terms);
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should accept a pause of 1 second to 30 days", async () => {
      const { escrow, guardian } = world();
      await escrow.connect(guardian).pause(1n);
      await escrow.connect(guardian).pause(30n * DAY);
      for (const duration of [0n, 30n * DAY + 1n, 2n ** 256n - 1n]) {
        await expect(escrow.connect(guardian).pause(duration))
          .to.be.revertedWithCustomError(escrow, "PauseLength")
          .withArgs(duration, 30n * DAY);
      }
    });

    it("should let a new pause replace the earlier one, longer or shorter", async () => {
      const { escrow, guardian, now } = world();
      await escrow.connect(guardian).pause(30n * DAY);
      await escrow.connect(guardian).pause(DAY);
      expect(await escrow.pausedUntil()).to.equal((await now()) + DAY);
    });

    it("should let the guardian end a pause, also a pause that is already over", async () => {
      const { escrow, guardian, buyer, hire } = world();
      const terms = await hire();
      await escrow.connect(guardian).pause(DAY);
      await expect(escrow.connect(guardian).unpause()).to.emit(escrow, "Unpaused");
      expect(await escrow.pausedUntil()).to.equal(0n);
      await expect(escrow.connect(buyer).deposit(terms)).to.emit(escrow, "Deposited");
      await escrow.connect(guardian).unpause();
    });

    it("should leave every way out of a hire open and every balance unchanged", async () => {
      const { ethers, token, escrow, escrowAddress, guardian, buyer, seller, held, now, pass, state } =
        world();
      const deadline = (await now()) + 1_000n;
      const [released, split, refunded, delivered, batched, timedOut, timedOutBatched] = [
        await held({ deadline }),
        await held({ deadline }),
        await held({ deadline }),
        await held({ deadline }),
        await held({ deadline }),
        await held({ deadline }),
        await held({ deadline }),
      ];
      await expect(escrow.connect(guardian).pause(30n * DAY)).to.changeTokenBalances(
        ethers,
        token,
        [escrowAddress, guardian.address],
        [0n, 0n],
      );
      await escrow.connect(seller).markDelivered(delivered, delivered.hireId, "0x");
      await escrow.connect(buyer).release(released, "0x");
      await escrow.connect(buyer).split(split, 1n, "0x");
      await escrow.connect(buyer).refund(refunded, buyer.address, "0x");
      const release = escrow.interface.encodeFunctionData("release", [batched, "0x"]);
      await escrow.connect(buyer).batch([release], GAS_EACH, BATCH_GAS);
      await pass(timedOut);
      await escrow.timeoutRefund(timedOut);
      const timeouts = [timedOutBatched, delivered].map((terms) =>
        escrow.interface.encodeFunctionData("timeoutRefund", [terms]),
      );
      await escrow.batch(timeouts, GAS_EACH, BATCH_GAS);
      for (const [terms, status] of [
        [released, STATUS.Released],
        [split, STATUS.Split],
        [refunded, STATUS.Refunded],
        [batched, STATUS.Released],
        [timedOut, STATUS.TimedOut],
        [timedOutBatched, STATUS.TimedOut],
        [delivered, STATUS.TimedOut],
      ] as const) {
        expect((await state(terms)).status).to.equal(status);
      }
    });
  });

  describe("given anyone else", () => {
    it("should refuse to pause and to unpause", async () => {
      const { escrow, guardian, deployer, buyer, seller, stranger } = world();
      for (const sender of [deployer, buyer, seller, stranger]) {
        const theirs = escrow.connect(sender);
        for (const attempt of [() => theirs.pause(1n), () => theirs.unpause()]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(escrow, "NotAuthorized")
            .withArgs(sender.address, guardian.address);
        }
      }
    });
  });
});

describe("HireEscrow: a Safe of 2 out of 3 as guardian", function () {
  this.timeout(BUILD_TIMEOUT);

  async function guarded() {
    const chain = await freshChain();
    const { ethers } = chain;
    const { tokenAddress, token, buyer, hire } = await newWorld(chain, "TestUSDC");
    const signers = await ethers.getSigners();
    const owners = signers.slice(10, 13) as [HardhatEthersSigner, HardhatEthersSigner, HardhatEthersSigner];
    const address = await deployGuardianSafe({ connection: chain, owners: owners.map((o) => o.address) });
    const safe = new Contract(address, safeArtifact("Safe.sol/Safe").abi, signers[0]);
    const escrow = await ethers.deployContract("HireEscrow", [tokenAddress, address, PROVIDER]);
    await token.connect(buyer).approve(await escrow.getAddress(), 2n ** 256n - 1n);
    return { chain, ethers, owners, safe, escrow, buyer, hire };
  }

  /** One call by the Safe with the confirmations of the given owners. */
  async function confirm(safe: Contract, escrow: HireEscrow, data: string, by: HardhatEthersSigner[]) {
    const transaction = [
      await escrow.getAddress(),
      0n,
      data,
      0,
      0n,
      0n,
      0n,
      ZeroAddress,
      ZeroAddress,
    ] as const;
    const hash: string = await safe.getFunction("getTransactionHash")(
      ...transaction,
      await safe.getFunction("nonce")(),
    );
    // The Safe requires the signatures in the order of the owners' addresses.
    const sorted = [...by].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    const signatures = await Promise.all(
      sorted.map(async (owner) => {
        const signature = await owner.signMessage(Buffer.from(hash.slice(2), "hex"));
        const v = Number.parseInt(signature.slice(130), 16) + 4;
        return `${signature.slice(0, 130)}${v.toString(16)}`;
      }),
    );
    return safe.getFunction("execTransaction")(...transaction, concat(signatures));
  }

  it("should pause and unpause with any two confirmations", async () => {
    const { safe, escrow, owners, buyer, hire } = await guarded();
    const pause = escrow.interface.encodeFunctionData("pause", [DAY]);
    const unpause = escrow.interface.encodeFunctionData("unpause");
    await expect(confirm(safe, escrow, pause, [owners[0], owners[1]])).to.emit(escrow, "Paused");
    await expect(escrow.connect(buyer).deposit(await hire())).to.be.revertedWithCustomError(
      escrow,
      "DepositsPaused",
    );
    await expect(confirm(safe, escrow, unpause, [owners[1], owners[2]])).to.emit(escrow, "Unpaused");
    await expect(escrow.connect(buyer).deposit(await hire())).to.emit(escrow, "Deposited");
  });

  it("should do nothing with one confirmation, with the same confirmation twice, or with a stranger's confirmation", async () => {
    const { ethers, safe, escrow, owners, buyer } = await guarded();
    const pause = escrow.interface.encodeFunctionData("pause", [DAY]);
    for (const by of [[owners[0]], [owners[0], owners[0]], [owners[0], buyer]]) {
      await expect(confirm(safe, escrow, pause, by)).to.revert(ethers);
    }
    expect(await escrow.pausedUntil()).to.equal(0n);
  });

  it("should not let a single owner call the escrow directly", async () => {
    const { safe, escrow, owners } = await guarded();
    await expect(escrow.connect(owners[0]).pause(DAY))
      .to.be.revertedWithCustomError(escrow, "NotAuthorized")
      .withArgs(owners[0].address, await safe.getAddress());
  });

  it("should not let the confirmations of a pause be used a second time", async () => {
    const { ethers, safe, escrow, owners } = await guarded();
    const pause = escrow.interface.encodeFunctionData("pause", [DAY]);
    const call = await confirm(safe, escrow, pause, [owners[0], owners[2]]);
    const signer = (await ethers.getSigners())[0]!;
    await expect(signer.sendTransaction({ to: await safe.getAddress(), data: call.data })).to.revert(ethers);
  });
});
