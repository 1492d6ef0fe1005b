import { expect } from "chai";
import { AbiCoder, concat } from "ethers";
import type { HardhatEthersSigner } from "../support/chain.ts";
import { type ContractWallet, type LibrariesHarness, STATUS, useWorld, wrap6492 } from "../support/world.ts";

const MAGIC = `0x${"6492".repeat(16)}`;
const MOOD = { AcceptsAll: 1n, Reverts: 2n, BurnsGas: 3n, Bombs: 4n, AnswersOtherwise: 5n } as const;

describe("HireEscrow: signers", () => {
  const world = useWorld();

  describe("given contract wallets (ERC-1271) as buyer, seller and arbiter", () => {
    it("should accept their owners' signatures for every verb, plain and wrapped", async () => {
      const w = world();
      const [buying, selling, judging] = [
        await w.wallet(w.buyer),
        await w.wallet(w.seller),
        await w.wallet(w.arbiter),
      ];
      const parties = {
        buyer: await buying.getAddress(),
        seller: await selling.getAddress(),
        arbiter: await judging.getAddress(),
      };
      const deposited = async () => {
        const terms = await w.hire(parties);
        await buying
          .connect(w.buyer)
          .execute(w.escrowAddress, w.escrow.interface.encodeFunctionData("deposit", [terms]));
        return terms;
      };
      for (const form of [(signature: string) => signature, wrap6492]) {
        const [released, split, refunded, judged] = [
          await deposited(),
          await deposited(),
          await deposited(),
          await deposited(),
        ];
        const delivery = form(await w.signDelivered(w.seller, released, released.hireId));
        await w.escrow.markDelivered(released, released.hireId, delivery);
        await w.escrow.release(released, form(await w.signRelease(w.buyer, released)));
        await w.escrow.split(split, 1n, form(await w.signSplit(w.buyer, split, 1n)));
        const givingUp = form(await w.signRefund(w.seller, refunded, parties.seller));
        await w.escrow.refund(refunded, parties.seller, givingUp);
        await w.escrow.refund(
          judged,
          parties.arbiter,
          form(await w.signRefund(w.arbiter, judged, parties.arbiter)),
        );
        expect(await w.state(released)).to.deep.equal({
          status: STATUS.Released,
          delivered: true,
          amount: 0n,
        });
        expect((await w.state(split)).status).to.equal(STATUS.Split);
        expect((await w.state(refunded)).status).to.equal(STATUS.Refunded);
        expect((await w.state(judged)).status).to.equal(STATUS.Refunded);
      }
    });

    it("should accept a call by the wallet as the wallet's word", async () => {
      const { escrow, escrowAddress, buyer, hire, state, wallet } = world();
      const purchaser = await wallet(buyer);
      const terms = await hire({ buyer: await purchaser.getAddress() });
      const call = (data: string) => purchaser.connect(buyer).execute(escrowAddress, data);
      await call(escrow.interface.encodeFunctionData("deposit", [terms]));
      await call(escrow.interface.encodeFunctionData("release", [terms, "0x"]));
      expect((await state(terms)).status).to.equal(STATUS.Released);
    });

    it("should refuse a wallet that reverts, returns something else or too much, or burns all gas", async () => {
      const { escrow, escrowAddress, buyer, hire, signRelease, wallet } = world();
      const purchaser = await wallet(buyer);
      const terms = await hire({ buyer: await purchaser.getAddress() });
      await purchaser
        .connect(buyer)
        .execute(escrowAddress, escrow.interface.encodeFunctionData("deposit", [terms]));
      const signature = await signRelease(buyer, terms);
      for (const mood of [MOOD.Reverts, MOOD.AnswersOtherwise, MOOD.Bombs, MOOD.BurnsGas]) {
        await purchaser.feel(mood);
        await expect(escrow.release(terms, signature, { gasLimit: 2_000_000n }))
          .to.be.revertedWithCustomError(escrow, "InvalidSignature")
          .withArgs(terms.buyer);
      }
    });
  });

  describe("given a key whose account delegates to code (EIP-7702)", () => {
    it("should still accept the key's signature, with any code", async () => {
      const { ethers, escrow, buyer, held, networkHelpers, signRelease, state, wallet, stranger } = world();
      const terms = await held();
      const signature = await signRelease(buyer, terms);
      const code = await (await wallet(stranger)).getAddress();
      await networkHelpers.setCode(buyer.address, `0xef0100${code.slice(2)}`);
      expect(await ethers.provider.getCode(buyer.address)).to.have.length(2 + 46);
      await escrow.connect(stranger).release(terms, signature);
      expect((await state(terms)).status).to.equal(STATUS.Released);
    });
  });

  describe("given a wallet that is not deployed yet (ERC-6492)", () => {
    it("should refuse its signature and not call its factory", async () => {
      const { escrow, held, signRelease, stranger, buyer } = world();
      const terms = await held();
      const wrapped = wrap6492(await signRelease(stranger, terms), await escrow.getAddress(), "0x8456cb59");
      await expect(escrow.release(terms, wrapped))
        .to.be.revertedWithCustomError(escrow, "InvalidSignature")
        .withArgs(buyer.address);
    });
  });
});

describe("Signatures: unwrap", () => {
  const world = useWorld();
  let harness: LibrariesHarness;
  beforeEach(async () => {
    harness = (await world().ethers.deployContract("LibrariesHarness")) as unknown as LibrariesHarness;
  });

  it("should return the signature inside a wrapper, of any length", async () => {
    for (const inner of ["0x", "0x01", `0x${"ab".repeat(65)}`, `0x${"cd".repeat(200)}`]) {
      expect(await harness.unwrap(wrap6492(inner))).to.equal(inner);
      expect(await harness.unwrap(wrap6492(inner, undefined, "0x"))).to.equal(inner);
    }
  });

  it("should return anything else unchanged", async () => {
    for (const signature of ["0x", "0x1234", `0x${"ab".repeat(65)}`, `0x${"ab".repeat(500)}`, MAGIC]) {
      expect(await harness.unwrap(signature)).to.equal(signature);
    }
  });

  it("should return a malformed wrapper unchanged, and never revert", async () => {
    const word = (value: bigint) => AbiCoder.defaultAbiCoder().encode(["uint256"], [value]);
    const huge = 2n ** 256n - 1n;
    for (const [offset, length] of [
      [huge, 0n],
      [huge - 31n, 0n],
      [huge - 0x20n, 1n],
      [0x61n, 0n],
      [0x60n, 1n],
      [0x60n, huge],
      [0x60n, 2n ** 255n],
      [0x40n, huge],
    ] as const) {
      const signature = concat([word(0n), word(0n), word(offset), word(length), MAGIC]);
      expect(await harness.unwrap(signature)).to.equal(signature);
    }
    const short = concat([word(0n), word(0n), word(0n), MAGIC]);
    expect(await harness.unwrap(short)).to.equal("0x");
    expect(await harness.unwrap(concat([word(0n), word(0n), MAGIC]))).to.equal(
      concat([word(0n), word(0n), MAGIC]),
    );
  });

  it("should remove only one wrapper", async () => {
    const inner = wrap6492("0x1234");
    expect(await harness.unwrap(wrap6492(inner))).to.equal(inner);
  });
});

describe("Signatures: isSignedBy", () => {
  const world = useWorld();
  let harness: LibrariesHarness;
  let wallet: ContractWallet;
  const digest = `0x${"d1".repeat(32)}`;
  beforeEach(async () => {
    harness = (await world().ethers.deployContract("LibrariesHarness")) as unknown as LibrariesHarness;
    wallet = await world().wallet(world().buyer);
  });
  const signDigest = async (signer: HardhatEthersSigner) => {
    const types = { Release: [{ name: "escrowId", type: "bytes32" }] };
    const { TypedDataEncoder } = await import("ethers");
    const { escrowDomain } = world();
    const message = { escrowId: digest };
    return {
      hash: TypedDataEncoder.hash(escrowDomain, types, message),
      signature: await signer.signTypedData(escrowDomain, types, message),
    };
  };

  it("should distinguish the signatures of two keys, and refuse the zero address", async () => {
    const { buyer, seller } = world();
    const { hash, signature } = await signDigest(buyer);
    expect(await harness.isSignedBy(buyer.address, hash, signature)).to.equal(true);
    expect(await harness.isSignedBy(seller.address, hash, signature)).to.equal(false);
    expect(await harness.isSignedBy(buyer.address, digest, signature)).to.equal(false);
    const nobody = `0x${"00".repeat(20)}`;
    expect(await harness.isSignedBy(nobody, hash, `0x${"00".repeat(65)}`)).to.equal(false);
  });

  it("should refuse the second form of a key's signature (high s)", async () => {
    const { buyer } = world();
    const { hash, signature } = await signDigest(buyer);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = order - BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.slice(130) === "1b" ? "1c" : "1b";
    const twin = `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v}`;
    expect(await harness.isSignedBy(buyer.address, hash, twin)).to.equal(false);
  });

  it("should ask a contract wallet about a signature of any length", async () => {
    const address = await wallet.getAddress();
    const { hash, signature } = await signDigest(world().buyer);
    expect(await harness.isSignedBy(address, hash, signature)).to.equal(true);
    expect(await harness.isSignedBy(address, hash, wrap6492(signature))).to.equal(true);
    expect(await harness.isSignedBy(address, digest, signature)).to.equal(false);
    await wallet.feel(MOOD.AcceptsAll);
    expect(await harness.isSignedBy(address, digest, wrap6492("0x"))).to.equal(true);
    expect(await harness.isSignedBy(address, digest, "0x1234")).to.equal(true);
  });
});
