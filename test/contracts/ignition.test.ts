import { expect } from "chai";
import { deployTallystick } from "../../scripts/ignition/deployTallystick.ts";
import { BUILD_TIMEOUT, freshChain } from "./support/chain.ts";
import { newWorld, PROVIDER } from "./support/world.ts";

describe("The contracts deployed by Ignition", function () {
  this.timeout(BUILD_TIMEOUT);

  it("should be a test token, an escrow for this token, and a ledger contract on a chain without USDC", async () => {
    const chain = await freshChain();
    const [, guardian] = await chain.ethers.getSigners();
    const addresses = await deployTallystick({
      connection: chain,
      guardian: guardian!.address,
      providerId: PROVIDER,
    });
    const escrow = await chain.ethers.getContractAt("HireEscrow", addresses.hireEscrow);
    expect(await escrow.token()).to.equal(addresses.token);
    expect(await escrow.guardian()).to.equal(guardian!.address);
    expect(await escrow.providerId()).to.equal(PROVIDER);
    const ledger = await chain.ethers.getContractAt("AnchoredLedger", addresses.anchoredLedger);
    await expect(ledger.open("tallystick.local/demo", guardian!.address, guardian!.address)).to.emit(
      ledger,
      "Opened",
    );
  });

  it("should use an existing token when one is named", async () => {
    const chain = await freshChain();
    const { tokenAddress, guardian } = await newWorld(chain, "TestUSDC");
    const addresses = await deployTallystick({
      connection: chain,
      token: tokenAddress,
      guardian: guardian.address,
      providerId: PROVIDER,
    });
    const escrow = await chain.ethers.getContractAt("HireEscrow", addresses.hireEscrow);
    expect(addresses.token).to.equal(tokenAddress);
    expect(await escrow.token()).to.equal(tokenAddress);
  });
});
