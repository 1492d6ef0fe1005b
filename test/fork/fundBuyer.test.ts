import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import type { TestUSDC } from "../../types/ethers-contracts/test/index.ts";
import { type Chain, freshChain } from "../support/freshChain.ts";
import { readForkSettings, tokenOf } from "./support/forkSettings.ts";
import { type Funding, fundBuyer } from "./support/fundBuyer.ts";

describe("fundBuyer", () => {
  let chain: Chain;
  let funding: Funding;
  const buyer = `0x${"b0".repeat(20)}`;
  const minter = `0x${"3a".repeat(20)}`;

  before(async () => {
    chain = await freshChain();
    funding = chain as unknown as Funding;
  });

  async function deploy(name: "TestUSDC" | "ManagedUSDC", args: string[] = []) {
    const token = (await chain.ethers.deployContract(name as string, args)) as unknown as TestUSDC;
    return { token, address: await token.getAddress() };
  }

  it("mints tokens if anybody may mint", async () => {
    const { token, address } = await deploy("TestUSDC");
    await fundBuyer(funding, { token: address, buyer, amount: 7n });
    expect(await token.balanceOf(buyer)).to.equal(7n);
  });

  it("makes the buyer a minter if only minters may mint", async () => {
    const { token, address } = await deploy("ManagedUSDC", [minter, minter]);
    await fundBuyer(funding, { token: address, buyer, amount: 7n });
    await fundBuyer(funding, { token: address, buyer, amount: 8n });
    expect(await token.balanceOf(buyer)).to.equal(15n);
  });

  it("transfers tokens from a named holder", async () => {
    const { token, address } = await deploy("TestUSDC");
    await token.mint(minter, 10n);
    await fundBuyer(funding, { token: address, buyer, amount: 7n, holder: minter });
    expect(await token.balanceOf(minter)).to.equal(3n);
  });

  it("reports what it tried when nothing works", async () => {
    const { token, address } = await deploy("ManagedUSDC", [minter, minter]);
    const { ethers, networkHelpers } = chain;
    await networkHelpers.impersonateAccount(minter);
    const managed = await ethers.getContractAt("ManagedUSDC", address, await ethers.getSigner(minter));
    await managed.blacklist(buyer);
    const failure = await fundBuyer(funding, { token: address, buyer, amount: 7n }).catch((error) => error);
    expect(failure).to.be.instanceOf(TallystickError).with.property("code", "cannot_fund_buyer");
    expect(failure.message).to.contain("mint by an appointed minter").and.contain("mint by anybody");
    expect(await token.balanceOf(buyer)).to.equal(0n);
  });
});

describe("the settings of a fork", () => {
  it("are empty without FORK_URL", () => {
    expect(readForkSettings({ FORK_BLOCK: "1" })).to.equal(undefined);
  });

  it("may have addresses in upper or lower case, and a block", () => {
    const env = { FORK_URL: "http://x", FORK_BLOCK: "12", FORK_TOKEN: `0x${"AB".repeat(20)}` };
    expect(readForkSettings(env)).to.deep.equal({
      url: "http://x",
      blockNumber: 12,
      token: `0x${"ab".repeat(20)}`,
    });
  });

  it("are refused with the name of a wrong setting", () => {
    for (const name of ["FORK_BLOCK", "FORK_TOKEN", "FORK_HOLDER", "FORK_ESCROW", "FORK_LEDGER"]) {
      expect(() => readForkSettings({ FORK_URL: "http://x", [name]: "0x12" }))
        .to.throw(TallystickError, name)
        .with.property("field", name);
    }
  });

  it("may name the contracts of a live deployment, and then no token", () => {
    const [FORK_ESCROW, FORK_LEDGER] = [`0x${"AB".repeat(20)}`, `0x${"CD".repeat(20)}`];
    const env = { FORK_URL: "http://x", FORK_ESCROW, FORK_LEDGER };
    expect(readForkSettings(env)).to.deep.equal({
      url: "http://x",
      escrow: FORK_ESCROW.toLowerCase(),
      ledger: FORK_LEDGER.toLowerCase(),
    });
    expect(() => readForkSettings({ ...env, FORK_TOKEN: FORK_LEDGER }))
      .to.throw(TallystickError, "FORK_ESCROW")
      .with.property("field", "FORK_TOKEN");
  });

  it("need a token, except on Base, Base Sepolia and Ethereum", () => {
    for (const chainId of [1, 8_453, 84_532])
      expect(tokenOf({ url: "" }, chainId)).to.match(/^0x[0-9a-f]{40}$/);
    const token = `0x${"12".repeat(20)}` as const;
    expect(tokenOf({ url: "", token }, 1)).to.equal(token);
    expect(() => tokenOf({ url: "" }, 5)).to.throw(TallystickError, "chain 5");
  });
});
