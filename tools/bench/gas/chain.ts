import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { id as keccakOfText, MaxUint256, ZeroAddress } from "ethers";
import { network } from "hardhat";
import { authorizationFields } from "tallystick-protocol/escrow/authorization";
import { escrowId, hireTypes, type Hire as ProtocolHire } from "tallystick-protocol/escrow/hire";
import { permitFields } from "tallystick-protocol/escrow/permit";
import type { TestUSDC } from "../../../types/ethers-contracts/test/index.ts";
import { builtContracts } from "../../testing/builtContracts.ts";

/** A hire as ethers passes it. */
export type Hire = Omit<ProtocolHire, "hireId" | "buyer" | "seller" | "payee" | "feeRecipient" | "arbiter"> &
  Record<"hireId" | "buyer" | "seller" | "payee" | "feeRecipient" | "arbiter", string>;

export const AMOUNT = 500_000n;
export const FEE = 25_000n;

type S = HardhatEthersSigner;
type Sent = { wait(): Promise<{ gasUsed: bigint; status: number | null } | null> };

/** Gas that a transaction used; throws when it failed. */
export async function gasOf(transaction: Promise<Sent>): Promise<number> {
  const receipt = await (await transaction).wait();
  if (receipt?.status !== 1) throw new Error("a measured transaction failed");
  return Number(receipt.gasUsed);
}

type BenchEthers = Awaited<ReturnType<typeof network.create>>["ethers"];

/** Deploys a token that has USDC's functions and lets the first signer mint. */
export type DeployToken = (ethers: BenchEthers) => Promise<TestUSDC>;

const plainToken: DeployToken = async (ethers) =>
  (await ethers.deployContract("TestUSDC")) as unknown as TestUSDC;

/** A token of our own that costs as much gas as Circle's token: see contracts/test/tokens/LikeFiatToken.sol. */
export const likeFiatToken: DeployToken = async (ethers) => {
  const library = await ethers.deployContract("LinkedSignatures");
  const libraries = { LinkedSignatures: await library.getAddress() };
  const code = await (await ethers.getContractFactory("LikeFiatToken", { libraries })).deploy();
  const proxy = await ethers.deployContract("LikeFiatTokenProxy", [await code.getAddress()]);
  return (await ethers.getContractAt("LikeFiatToken", await proxy.getAddress())) as unknown as TestUSDC;
};

/**
 * A fresh chain with an escrow. The escrow and its parties hold tokens already, so no payment fills an empty
 * storage slot. Every run is the same except for the block times.
 */
export async function benchChain(deployToken: DeployToken = plainToken) {
  await builtContracts();
  const { ethers, networkHelpers } = await network.create();
  const [relayer, guardian, buyer, seller, payee, feeRecipient, arbiter] =
    (await ethers.getSigners()) as unknown as [S, S, S, S, S, S, S];
  const token = await deployToken(ethers);
  const tokenAddress = await token.getAddress();
  const escrow = await ethers.deployContract("HireEscrow", [tokenAddress, guardian.address, "bench"]);
  const escrowAddress = await escrow.getAddress();
  for (const holder of [buyer, seller, payee, feeRecipient, escrow])
    await token.mint(await holder.getAddress(), 10n ** 12n);
  await token.connect(buyer).approve(escrowAddress, MaxUint256);
  const { chainId } = await ethers.provider.getNetwork();
  const domain = { name: "Tallystick HireEscrow", version: "1", chainId, verifyingContract: escrowAddress };
  const tokenDomain = { name: "USD Coin", version: "2", chainId, verifyingContract: tokenAddress };
  const deadline = BigInt(await networkHelpers.time.latest()) + 1_000_000n;

  let count = 0;
  const hire = (terms: Partial<Hire> = {}): Hire => ({
    hireId: keccakOfText(`hire ${count++}`),
    buyer: buyer.address,
    seller: seller.address,
    payee: ZeroAddress,
    amount: AMOUNT,
    fee: 0n,
    feeRecipient: ZeroAddress,
    deadline,
    arbiter: ZeroAddress,
    ...terms,
  });
  const idOf = (terms: Hire) => {
    const lower = Object.entries(terms).map(([k, v]) => [k, typeof v === "string" ? v.toLowerCase() : v]);
    const deployment = { chainId: Number(chainId), escrow: escrowAddress.toLowerCase() as `0x${string}` };
    return escrowId(Object.fromEntries(lower) as ProtocolHire, deployment);
  };

  return {
    ethers,
    networkHelpers,
    token,
    tokenAddress,
    escrow,
    escrowAddress,
    relayer,
    guardian,
    buyer,
    seller,
    payee,
    feeRecipient,
    arbiter,
    deadline,
    hire,
    idOf,

    /** A hire that is held already. */
    async held(terms: Partial<Hire> = {}): Promise<Hire> {
      const deposited = hire(terms);
      await escrow.connect(buyer).deposit(deposited);
      return deposited;
    },

    sign: (signer: S, name: keyof typeof hireTypes, message: Record<string, unknown>) =>
      signer.signTypedData(domain, { [name]: [...hireTypes[name]] }, message),

    authorize: (terms: Hire) =>
      buyer.signTypedData(
        tokenDomain,
        { ReceiveWithAuthorization: [...authorizationFields] },
        {
          from: buyer.address,
          to: escrowAddress,
          value: terms.amount,
          validAfter: 0n,
          validBefore: deadline,
          nonce: idOf(terms),
        },
      ),

    async permit(): Promise<string> {
      const nonce = await token.nonces(buyer);
      const message = { owner: buyer.address, spender: escrowAddress, value: AMOUNT, nonce, deadline };
      return buyer.signTypedData(tokenDomain, { Permit: [...permitFields] }, message);
    },
  };
}

export type BenchChain = Awaited<ReturnType<typeof benchChain>>;
