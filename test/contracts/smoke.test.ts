import { expect } from "chai";
import { deployTallystick } from "../../scripts/ignition/deployTallystick.ts";
import { freshChain } from "./support/chain.ts";
import { escrowDomain, escrowIdOf, hireOf, signAuthorization } from "./support/hire.ts";

describe("The deployed contracts together", () => {
  it("hold a buyer's authorized deposit and pay it to the seller when the buyer releases", async () => {
    const chain = await freshChain();
    const { ethers, networkHelpers } = chain;
    const [relayer, guardian, buyer, seller] = await ethers.getSigners();
    const addresses = await deployTallystick({
      connection: chain,
      guardian: guardian!.address,
      providerId: "swarmwage-partnered",
    });
    const token = await ethers.getContractAt("TestUSDC", addresses.token);
    const escrow = await ethers.getContractAt("HireEscrow", addresses.hireEscrow);
    await token.mint(buyer!.address, 2_000_000n);

    const { chainId } = await ethers.provider.getNetwork();
    const deadline = BigInt(await networkHelpers.time.latest()) + 300n;
    const hire = hireOf({ buyer: buyer!.address, seller: seller!.address, deadline });
    const escrowId = escrowIdOf(hire, escrowDomain(chainId, addresses.hireEscrow));
    const signature = await signAuthorization(
      buyer!,
      { name: "USD Coin", version: "2", chainId, verifyingContract: addresses.token },
      {
        from: buyer!.address,
        to: addresses.hireEscrow,
        value: hire.amount,
        validAfter: 0n,
        validBefore: deadline,
        nonce: escrowId,
      },
    );

    await expect(escrow.connect(relayer).depositWithAuthorization(hire, 0n, deadline, signature))
      .to.emit(escrow, "Deposited")
      .withArgs(
        escrowId,
        hire.buyer,
        hire.seller,
        hire.hireId,
        hire.payee,
        500_000n,
        0n,
        hire.feeRecipient,
        deadline,
        hire.arbiter,
      );
    expect(await token.balanceOf(addresses.hireEscrow)).to.equal(500_000n);

    await escrow.connect(buyer).release(hire, "0x");
    expect(await token.balanceOf(seller!.address)).to.equal(500_000n);
    expect(await token.balanceOf(addresses.hireEscrow)).to.equal(0n);
  });
});
