import { expect } from "chai";
import { AbiCoder, concat, toBeHex, zeroPadValue } from "ethers";
import hre from "hardhat";
import { BATCH_GAS, reportOf } from "../support/batch.ts";
import { traceBatch } from "../support/traceBatch.ts";
import { STATUS, useWorld } from "../support/world.ts";

const MAX = 2n ** 256n - 1n;

/** A test of exact gas figures. A coverage run skips it, because there the contracts use another amount of gas. */
const itExactly = hre.globalOptions.coverage ? it.skip : it;

/** The condition that the contract checks before each item, written independently of the contract. */
const leaves = (left: bigint, gasEach: bigint) => left > 20_000n && ((left - 20_000n) / 64n) * 63n >= gasEach;

describe("HireEscrow: the gas of a batch", () => {
  const world = useWorld();

  async function batching() {
    const w = world();
    const { interface: abi } = w.escrow;
    return {
      ...w,
      releaseOf: async () => abi.encodeFunctionData("release", [await w.held(), "0x"]),
      send: async (calls: string[], gasEach: bigint, gasLimit: bigint) => {
        const receipt = await (await w.escrow.connect(w.buyer).batch(calls, gasEach, { gasLimit })).wait();
        return { ...reportOf(abi, receipt), hash: receipt?.hash as string, used: receipt?.gasUsed as bigint };
      },
    };
  }

  itExactly(
    "should give every item exactly the same gas, whatever comes before it and however much gas is sent",
    async () => {
      const { chain, escrow, releaseOf, send } = await batching();
      const calls = [await releaseOf(), "0xdeadbeef", await releaseOf(), "0x"];
      for (const gasEach of [1n, 64n, 250_000n]) {
        for (const gasLimit of [1_300_000n, 9_999_999n]) {
          const { hash } = await send(calls, gasEach, gasLimit);
          const items = await traceBatch(chain, hash);
          expect(items.map(({ given }) => given)).to.deep.equal(calls.map(() => gasEach));
        }
      }
      expect(await escrow.queryFilter(escrow.filters.Released())).to.have.length(2);
    },
  );

  itExactly("should stop before an item that cannot get this gas, exact to one unit", async () => {
    const { chain, ethers, releaseOf, send, escrow } = await batching();
    const gasEach = 300_000n;
    const calls = [await releaseOf(), await releaseOf(), await releaseOf()];
    /** How many of the three items were tried with this gas limit, and the gas before each. It restores the state. */
    const attempt = async (gasLimit: bigint) => {
      const before = await ethers.provider.send("evm_snapshot", []);
      const { hash, stopped, failed } = await send(calls, gasEach, gasLimit);
      const items = await traceBatch(chain, hash);
      const released = (await escrow.queryFilter(escrow.filters.Released())).length;
      await ethers.provider.send("evm_revert", [before]);
      expect(failed).to.deep.equal([]);
      expect(released).to.equal(Number(stopped ?? 3n));
      return { stopped, items };
    };
    for (const wanted of [0n, 1n, 2n]) {
      // The least gas with which item `wanted` runs.
      let [low, high] = [60_000n, 2_000_000n];
      while (high - low > 1n) {
        const middle = (low + high) / 2n;
        if (((await attempt(middle)).stopped ?? 3n) > wanted) high = middle;
        else low = middle;
      }
      const [short, enough] = [await attempt(low), await attempt(high)];
      expect(short.stopped).to.equal(wanted);
      expect(short.items.at(-1)?.given).to.equal(undefined);
      expect(leaves(short.items.at(-1)!.left, gasEach)).to.equal(false);
      expect(leaves(enough.items[Number(wanted)]!.left, gasEach)).to.equal(true);
      expect(enough.items[Number(wanted)]?.given).to.equal(gasEach);
      expect(short.items.at(-1)!.left + 1n, "one unit of gas makes the difference").to.equal(
        enough.items[Number(wanted)]!.left,
      );
    }
    expect((await escrow.queryFilter(escrow.filters.Released())).length).to.equal(0);
  });

  it("should stop at once, without an error, when each item asks for more gas than is left", async () => {
    const { escrow, releaseOf, send, held, state } = await batching();
    const hire = await held();
    const calls = [escrow.interface.encodeFunctionData("release", [hire, "0x"]), await releaseOf()];
    for (const gasEach of [MAX, MAX - 1n, 2n ** 255n, 2n ** 64n, 16_000_000n]) {
      const report = await send(calls, gasEach, 16_000_000n);
      expect(report).to.deep.include({ failed: [], stopped: 0n });
      expect(report.used < 60_000n).to.equal(true);
      expect(await escrow.connect(world().buyer).batch.staticCall(calls, gasEach, BATCH_GAS)).to.equal(0n);
    }
    expect(await send([], MAX, 100_000n)).to.deep.include({ failed: [], stopped: undefined });
    expect((await state(hire)).status).to.equal(STATUS.Held);
  });

  it("should keep 20,000 gas for itself even if its items ask for none, and never run out of gas", async () => {
    const { chain, send } = await batching();
    const calls = Array.from({ length: 4 }, () => "0xdeadbeef");
    const seen = new Set<bigint | undefined>();
    for (let gasLimit = 40_000n; gasLimit < 70_000n; gasLimit += 333n) {
      // Every limit is enough for the transaction itself. A low limit stops the batch before its first item.
      const { stopped, hash } = await send(calls, 0n, gasLimit);
      const items = await traceBatch(chain, hash);
      if (stopped !== undefined) expect(items.at(-1)!.left <= 20_000n + 64n).to.equal(true);
      seen.add(stopped);
    }
    expect([...seen]).to.include.members([0n, undefined]);
  });

  it("should end normally when the last item burns all of its gas", async () => {
    const { buyer, escrow, escrowAddress, hire, wallet, releaseOf, send, chain } = await batching();
    const greedy = await wallet(buyer);
    const trap = await hire({ buyer: await greedy.getAddress() });
    await greedy
      .connect(buyer)
      .execute(escrowAddress, escrow.interface.encodeFunctionData("deposit", [trap]));
    await greedy.feel(3n);
    const spring = escrow.interface.encodeFunctionData("release", [trap, `0x${"ab".repeat(66)}`]);
    const calls = [await releaseOf(), spring, spring, spring, await releaseOf()];
    for (let extra = 0n; extra < 40_000n; extra += 7_777n) {
      const { hash, stopped, failed } = await send(calls, 200_000n, 400_000n + extra);
      expect(stopped! >= 2n && stopped! <= 4n).to.equal(true);
      const items = await traceBatch(chain, hash);
      expect(items.filter(({ given }) => given !== undefined).length).to.equal(Number(stopped));
      expect(failed.every(([, reason]) => reason === "0x" || reason.length <= 2 + 2 * 256)).to.equal(true);
    }
  });

  itExactly(
    "should give a long item exactly the same gas, even if copying the item takes more gas than the batch keeps",
    async () => {
      const { chain, buyer, escrow, held, ethers } = await batching();
      const hire = await held();
      // The EVM ignores bytes after the arguments. So this call of 120,000 bytes is valid.
      const long = concat([
        escrow.interface.encodeFunctionData("release", [hire, "0x"]),
        `0x${"00".repeat(120_000)}`,
      ]);
      const gasEach = 700_000n;
      let [ran, stopped] = [0, 0];
      for (let gasLimit = 1_240_000n; gasLimit < 1_320_000n; gasLimit += 8_000n) {
        const before = await ethers.provider.send("evm_snapshot", []);
        const tx = await escrow.connect(buyer).batch([long], gasEach, { gasLimit });
        const report = reportOf(escrow.interface, await tx.wait());
        const [item] = await traceBatch(chain, tx.hash);
        await ethers.provider.send("evm_revert", [before]);
        if (report.stopped === undefined) {
          ran++;
          expect(item?.given).to.equal(gasEach);
          expect(report.failed).to.deep.equal([]);
        } else {
          stopped++;
          expect(item?.given).to.equal(undefined);
        }
      }
      expect(ran > 0 && stopped > 0).to.equal(true);
    },
  );

  it("should use no more memory for many items than for one item", async () => {
    const { escrow } = world();
    const used = async (count: number) => {
      const calls = Array.from({ length: count }, () => `0xdeadbeef${"00".repeat(2_000)}`);
      const receipt = await (await escrow.batch(calls, 10_000n, BATCH_GAS)).wait();
      return Number(receipt?.gasUsed);
    };
    const [ten, twenty, thirty] = [await used(10), await used(20), await used(30)];
    expect(Math.abs(thirty - twenty - (twenty - ten)) < 300).to.equal(true);
  });
});

describe("HireEscrow: a batch of hostile calldata", () => {
  const world = useWorld();
  const word = (value: bigint) => zeroPadValue(toBeHex(value), 32);
  const body = (...parts: string[]) => concat([selector(), ...parts]);
  const selector = () => world().escrow.interface.getFunction("batch").selector;
  /** The arguments of `batch`: the offset of `calls`, which is 0x40, and `gasEach`. */
  const head = [word(0x40n), word(100_000n)];
  const run = (data: string) =>
    world().buyer.sendTransaction({ to: world().escrowAddress, data, gasLimit: 3_000_000n });

  it("should revert when its argument is not an array", async () => {
    const { ethers } = world();
    for (const data of [
      selector(),
      body(word(0x40n)),
      body(word(2n ** 64n), word(0n)),
      body(word(MAX), word(0n)),
      body(word(2n ** 255n), word(0n)),
      body(word(0x60n), word(0n), word(0n)),
      body(...head, word(1n)),
      body(...head, word(2n ** 64n)),
      body(...head, word(2n ** 251n)),
      body(...head, word(MAX)),
    ]) {
      await expect(run(data)).to.be.revertedWithoutReason(ethers);
    }
  });

  it("should undo earlier items when a later item is not a byte string", async () => {
    const { ethers, escrow, held, state } = world();
    const hire = await held();
    const release = escrow.interface.encodeFunctionData("release", [hire, "0x"]);
    const padded = `${release}${"00".repeat((32 - ((release.length / 2 - 1) % 32)) % 32)}`;
    const length = BigInt(release.length / 2 - 1);
    const items = ([offset, ...rest]: string[]) =>
      body(...head, word(2n), word(0x40n), offset as string, word(length), padded, ...rest);
    const after = BigInt(padded.length / 2 - 1) + 0x60n;
    for (const second of [
      [word(2n ** 64n)],
      [word(MAX)],
      [word(after)],
      [word(after), word(1n)],
      [word(after), word(2n ** 64n)],
      [word(after), word(MAX)],
    ]) {
      await expect(run(items(second))).to.be.revertedWithoutReason(ethers);
      expect((await state(hire)).status).to.equal(STATUS.Held);
    }
    const empty = reportOf(escrow.interface, await (await run(items([word(after), word(0n)]))).wait());
    expect(empty.failed).to.deep.equal([[1n, "0x"]]);
    expect((await state(hire)).status).to.equal(STATUS.Released);
  });

  it("should treat an item with a huge offset as empty, because the compiler reads the offset as a negative number", async () => {
    const { escrow } = world();
    const data = body(...head, word(1n), word(2n ** 255n));
    const report = reportOf(escrow.interface, await (await run(data)).wait());
    expect(report).to.deep.equal({ failed: [[0n, "0x"]], stopped: undefined });
  });

  it("should run an item once for each reference to it, and pay only once", async () => {
    const { escrow, held, state } = world();
    const hire = await held();
    const release = escrow.interface.encodeFunctionData("release", [hire, "0x"]);
    const one = AbiCoder.defaultAbiCoder()
      .encode(["bytes"], [release])
      .slice(2 + 64);
    const count = 5n;
    const pointers = Array.from({ length: Number(count) }, () => word(count * 32n));
    const receipt = await (await run(body(...head, word(count), ...pointers, `0x${one}`))).wait();
    const report = reportOf(escrow.interface, receipt);
    expect(report.failed.map(([index]) => index)).to.deep.equal([1n, 2n, 3n, 4n]);
    expect((await state(hire)).status).to.equal(STATUS.Released);
  });
});
