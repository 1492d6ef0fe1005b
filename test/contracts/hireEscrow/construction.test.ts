import { expect } from "chai";
import { PROVIDER, useWorld, ZeroAddress } from "../support/world.ts";

describe("HireEscrow: construction and views", () => {
  const world = useWorld();

  it("should keep its token, guardian and provider forever", async () => {
    const { escrow, tokenAddress, guardian } = world();
    expect(await escrow.token()).to.equal(tokenAddress);
    expect(await escrow.guardian()).to.equal(guardian.address);
    expect(await escrow.providerId()).to.equal(PROVIDER);
    expect(await escrow.pausedUntil()).to.equal(0n);
  });

  it("should publish its EIP-712 domain (ERC-5267)", async () => {
    const { escrow, escrowDomain } = world();
    const domain = await escrow.eip712Domain();
    expect(domain.name).to.equal(escrowDomain.name);
    expect(domain.version).to.equal(escrowDomain.version);
    expect(domain.chainId).to.equal(escrowDomain.chainId);
    expect(domain.verifyingContract).to.equal(escrowDomain.verifyingContract);
  });

  it("should compute as escrowId the EIP-712 digest that signers compute from the terms", async () => {
    const { escrow, hire, idOf, payee, feeRecipient, arbiter } = world();
    const plain = await hire();
    const full = await hire({
      payee: payee.address,
      fee: 1n,
      feeRecipient: feeRecipient.address,
      arbiter: arbiter.address,
      amount: 2n ** 128n - 1n,
      deadline: 2n ** 64n - 1n,
    });
    expect(await escrow.escrowId(plain)).to.equal(idOf(plain));
    expect(await escrow.escrowId(full)).to.equal(idOf(full));
  });

  it("should compute another escrowId for a change of any term", async () => {
    const { escrow, hire, stranger } = world();
    const base = await hire();
    const other = stranger.address;
    const changes = [
      { hireId: `0x${"00".repeat(32)}` },
      { buyer: other },
      { seller: other },
      { payee: other },
      { amount: base.amount + 1n },
      { fee: 1n },
      { feeRecipient: other },
      { deadline: base.deadline + 1n },
      { arbiter: other },
    ];
    const ids = new Set([await escrow.escrowId(base)]);
    for (const change of changes) ids.add(await escrow.escrowId({ ...base, ...change }));
    expect(ids.size).to.equal(changes.length + 1);
  });

  it("should give an empty state for a hire that nobody deposited", async () => {
    const { hire, state } = world();
    expect(await state(await hire())).to.deep.equal({ status: 0n, delivered: false, amount: 0n });
  });

  it("should accept provider ids of 1 and of 31 bytes", async () => {
    const { ethers, tokenAddress, guardian } = world();
    for (const providerId of ["p", "p".repeat(31)]) {
      const escrow = await ethers.deployContract("HireEscrow", [tokenAddress, guardian.address, providerId]);
      expect(await escrow.providerId()).to.equal(providerId);
    }
  });

  it("should refuse provider ids of 0 and of 32 bytes", async () => {
    const { ethers, escrow, tokenAddress, guardian } = world();
    for (const [providerId, length] of [
      ["", 0n],
      ["p".repeat(32), 32n],
    ] as const) {
      await expect(ethers.deployContract("HireEscrow", [tokenAddress, guardian.address, providerId]))
        .to.be.revertedWithCustomError(escrow, "ProviderIdLength")
        .withArgs(length, 31n);
    }
  });

  it("should refuse a token that is not a contract", async () => {
    const { ethers, escrow, stranger, guardian } = world();
    await expect(ethers.deployContract("HireEscrow", [stranger.address, guardian.address, PROVIDER]))
      .to.be.revertedWithCustomError(escrow, "TokenWithoutCode")
      .withArgs(stranger.address);
  });

  it("should refuse a deployment without a guardian", async () => {
    const { ethers, escrow, tokenAddress } = world();
    await expect(
      ethers.deployContract("HireEscrow", [tokenAddress, ZeroAddress, PROVIDER]),
    ).to.be.revertedWithCustomError(escrow, "GuardianIsZero");
  });

  it("should accept no ether and answer no unknown call", async () => {
    const { escrowAddress, deployer, ethers } = world();
    await expect(deployer.sendTransaction({ to: escrowAddress, value: 1n })).to.revert(ethers);
    await expect(deployer.sendTransaction({ to: escrowAddress, data: "0xdeadbeef" })).to.revert(ethers);
  });
});
