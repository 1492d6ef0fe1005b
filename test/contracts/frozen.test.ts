import { readFileSync } from "node:fs";
import { expect } from "chai";
import hre from "hardhat";
import { anchoredLedger1 } from "tallystick-protocol/ledger/releases/anchoredLedger1";
import { RELEASE_SALT } from "tallystick-protocol/releaseAddress";
import { networks } from "../../scripts/deploy/networks.ts";
import { deployFrozen } from "../../scripts/ignition/deployFrozen.ts";
import { frozenAddresses } from "../../scripts/ignition/frozenAddresses.ts";
import { frozenNames, readFrozen, readFrozenInput } from "../../scripts/ignition/frozenContract.ts";
import {
  compiledContract,
  releasedEscrow,
  releasedLedger,
  releaseFile,
} from "../../tools/freeze-contracts.ts";
import { BUILD_TIMEOUT, freshChain } from "./support/chain.ts";
import { newWorld, PROVIDER, STATUS } from "./support/world.ts";

describe("The frozen contracts", function () {
  this.timeout(BUILD_TIMEOUT);
  before(freshChain);

  // A coverage run changes the code of the contracts.
  if (!hre.globalOptions.coverage) {
    for (const name of frozenNames) {
      it(`should equal the compiled source of ${name} (if the change is wanted: npm run freeze)`, async () => {
        const { contract, input } = await compiledContract(name);
        expect(contract).to.deep.equal(readFrozen(name));
        expect(input).to.deep.equal(readFrozenInput(name));
        expect(contract.compiler.metadata).to.deep.equal({ bytecodeHash: "none" });
      });
    }
    it("should be the code by which the portal recognises the escrow and the ledger contract (else: npm run freeze)", async () => {
      expect(JSON.parse(readFileSync(releaseFile, "utf8"))).to.deep.equal(await releasedEscrow());
      expect(anchoredLedger1).to.deep.equal(await releasedLedger());
    });
  }

  /** Deploys on a new chain, after this number of other transactions of the deployer. */
  async function deployed(transactionsBefore: number) {
    const chain = await freshChain();
    const world = await newWorld(chain, "TestUSDC");
    for (let i = 0; i < transactionsBefore; i++) {
      await world.deployer.sendTransaction({ to: world.deployer.address });
    }
    const parameters = { token: world.tokenAddress, guardian: world.guardian.address, providerId: PROVIDER };
    return { ...world, parameters, addresses: await deployFrozen({ connection: chain, ...parameters }) };
  }

  it("should get the same predicted addresses on every chain, also after other transactions of the deployer", async () => {
    const [one, other] = [await deployed(0), await deployed(3)];
    expect(one.addresses).to.deep.equal(other.addresses);
    expect(one.addresses).to.deep.equal(frozenAddresses(one.parameters));
  });

  it("should get another escrow address for every argument, and for another salt", async () => {
    const { parameters, stranger } = await deployed(0);
    const escrows = [
      parameters,
      { ...parameters, token: stranger.address },
      { ...parameters, guardian: stranger.address },
      { ...parameters, providerId: "another" },
      { ...parameters, salt: `0x${"5a".repeat(32)}` },
    ].map((terms) => frozenAddresses(terms).hireEscrow);
    expect(new Set(escrows).size).to.equal(escrows.length);
  });

  it("should get the same ledger address on every network, and another escrow address where USDC has another address", () => {
    const terms = { guardian: `0x${"6a".repeat(20)}`, providerId: PROVIDER };
    const [base, sepolia] = ["base", "base-sepolia"].map((name) =>
      frozenAddresses({ ...terms, token: networks[name]?.token as string }),
    );
    expect(networks.base?.token).to.not.equal(networks["base-sepolia"]?.token);
    expect(base?.anchoredLedger).to.equal(sepolia?.anchoredLedger);
    expect(base?.hireEscrow).to.not.equal(sepolia?.hireEscrow);
    // With the same token the escrow also has the same address.
    expect(frozenAddresses({ ...terms, token: base?.token as string })).to.deep.equal(base);
  });

  it("should not be deployed again if somebody has deployed them already", async () => {
    const { chain, parameters, addresses, ethers } = await deployed(0);
    const block = await ethers.provider.getBlockNumber();
    expect(await deployFrozen({ connection: chain, ...parameters, salt: RELEASE_SALT })).to.deep.equal(
      addresses,
    );
    expect(await ethers.provider.getBlockNumber()).to.equal(block);
  });

  it("should work: the escrow holds and releases a hire, and a ledger opens", async () => {
    const { ethers, addresses, token, buyer, hire, guardian } = await deployed(0);
    const escrow = await ethers.getContractAt("HireEscrow", addresses.hireEscrow);
    expect(await escrow.guardian()).to.equal(guardian.address);
    expect(await escrow.token()).to.equal(addresses.token);
    await token.connect(buyer).approve(addresses.hireEscrow, 2n ** 256n - 1n);
    const terms = await hire();
    await escrow.connect(buyer).deposit(terms);
    await escrow.connect(buyer).release(terms, "0x");
    expect((await escrow.stateOf(await escrow.escrowId(terms))).status).to.equal(STATUS.Released);
    const ledger = await ethers.getContractAt("AnchoredLedger", addresses.anchoredLedger);
    await expect(ledger.open("tallystick.local/demo", guardian.address, guardian.address)).to.emit(
      ledger,
      "Opened",
    );
  });
});
