import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { AbiCoder, concat, type TypedDataDomain, ZeroAddress } from "ethers";
import { authorizationFields } from "tallystick-protocol/escrow/authorization";
import { escrowId, hireTypes } from "tallystick-protocol/escrow/hire";
import { permitFields } from "tallystick-protocol/escrow/permit";
import type {
  ContractWallet,
  HostileToken,
  LibrariesHarness,
  TestUSDC,
} from "../../../types/ethers-contracts/test/index.ts";
import { BUILD_TIMEOUT, type Chain, freshChain } from "./chain.ts";
import { type Hire, hireOf } from "./hire.ts";

export const PROVIDER = "swarmwage-partnered";
export const AMOUNT = 500_000n;
export const FEE = 25_000n;
export const STATUS = { None: 0n, Held: 1n, Released: 2n, Split: 3n, Refunded: 4n, TimedOut: 5n } as const;

type S = HardhatEthersSigner;
type EightSigners = [S, S, S, S, S, S, S, S];

/** A signature in an ERC-6492 wrapper. Nothing in this repository makes the wrapper's factory call. */
export function wrap6492(signature: string, factory = `0x${"fa".repeat(20)}`, call = "0x1234"): string {
  const body = AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [factory, call, signature]);
  return concat([body, `0x${"6492".repeat(16)}`]);
}

/** An escrow with its token and its parties. The parties and a stranger have tokens, the escrow has none. */
export async function newWorld<T extends "TestUSDC" | "HostileToken">(chain: Chain, tokenName: T) {
  const { ethers, networkHelpers } = chain;
  const [deployer, guardian, buyer, seller, payee, feeRecipient, arbiter, stranger] =
    (await ethers.getSigners()) as unknown as EightSigners;
  const token = (await ethers.deployContract(tokenName as string)) as unknown as T extends "TestUSDC"
    ? TestUSDC
    : HostileToken;
  const tokenAddress = await token.getAddress();
  const escrow = await ethers.deployContract("HireEscrow", [tokenAddress, guardian.address, PROVIDER]);
  const escrowAddress = await escrow.getAddress();
  for (const account of [buyer, seller, payee, feeRecipient, arbiter, stranger]) {
    await token.mint(account.address, 10_000_000n);
  }
  await token.connect(buyer).approve(escrowAddress, 2n ** 256n - 1n);
  const { chainId } = await ethers.provider.getNetwork();
  const escrowDomain = {
    name: "Tallystick HireEscrow",
    version: "1",
    chainId,
    verifyingContract: escrowAddress,
  };
  const tokenDomain = { name: "USD Coin", version: "2", chainId, verifyingContract: tokenAddress };

  const now = async () => BigInt(await networkHelpers.time.latest());
  /** Terms between buyer and seller that can be deposited for the next five minutes. */
  const hire = async (terms: Partial<Hire> = {}): Promise<Hire> =>
    hireOf({ buyer: buyer.address, seller: seller.address, deadline: (await now()) + 300n, ...terms });
  /** A hire with a payee, a fee and an arbiter. It is deposited by allowance. */
  const held = async (terms: Partial<Hire> = {}): Promise<Hire> => {
    const parties = { payee: payee.address, feeRecipient: feeRecipient.address, arbiter: arbiter.address };
    const deposited = await hire({ fee: FEE, ...parties, ...terms });
    await escrow.connect(buyer).deposit(deposited);
    return deposited;
  };
  const idOf = (hire: Hire) =>
    escrowId(lower(hire), {
      chainId: Number(chainId),
      escrow: escrowAddress.toLowerCase() as `0x${string}`,
    });
  const signTyped = (
    signer: HardhatEthersSigner,
    name: keyof typeof hireTypes,
    message: Record<string, unknown>,
    domain: TypedDataDomain = escrowDomain,
  ) => signer.signTypedData(domain, { [name]: [...hireTypes[name]] }, message);

  return {
    chain,
    ethers,
    networkHelpers,
    token,
    tokenAddress,
    escrow,
    escrowAddress,
    escrowDomain,
    tokenDomain,
    deployer,
    guardian,
    buyer,
    seller,
    payee,
    feeRecipient,
    arbiter,
    stranger,
    now,
    idOf,

    hire,
    held,

    async pass(hire: Hire): Promise<void> {
      await networkHelpers.time.increaseTo(hire.deadline);
    },

    state: async (hire: Hire) => {
      const { status, delivered, amount } = await escrow.stateOf(idOf(hire));
      return { status, delivered, amount };
    },

    signRelease: (signer: HardhatEthersSigner, hire: Hire) =>
      signTyped(signer, "Release", { escrowId: idOf(hire) }),
    signSplit: (signer: HardhatEthersSigner, hire: Hire, toSeller: bigint) =>
      signTyped(signer, "Split", { escrowId: idOf(hire), toSeller }),
    signRefund: (key: HardhatEthersSigner, hire: Hire, signer: string = key.address) =>
      signTyped(key, "Refund", { escrowId: idOf(hire), signer }),
    signDelivered: (signer: HardhatEthersSigner, hire: Hire, resultHash: string) =>
      signTyped(signer, "MarkDelivered", { escrowId: idOf(hire), resultHash }),
    signHire: (signer: HardhatEthersSigner, hire: Hire) => signTyped(signer, "Hire", hire),
    signTyped,

    /** The buyer's EIP-3009 authorization for a hire; by default exactly the transfer that the escrow will request. */
    async signAuthorization(
      signer: HardhatEthersSigner,
      hire: Hire,
      change: Record<string, unknown> = {},
      name = "ReceiveWithAuthorization",
    ): Promise<string> {
      const message = {
        from: hire.buyer,
        to: escrowAddress,
        value: hire.amount,
        validAfter: 0n,
        validBefore: hire.deadline,
        nonce: idOf(hire),
        ...change,
      };
      return signer.signTypedData(tokenDomain, { [name]: [...authorizationFields] }, message);
    },

    /** A permit of `value` for the escrow. */
    async signPermit(signer: HardhatEthersSigner, owner: string, value: bigint, deadline: bigint) {
      const nonce = "nonces" in token ? await token.nonces(owner) : 0n;
      const message = { owner, spender: escrowAddress, value, nonce, deadline };
      return signer.signTypedData(tokenDomain, { Permit: [...permitFields] }, message);
    },

    /** A contract wallet of `owner` that holds tokens and has approved the escrow. */
    async wallet(owner: HardhatEthersSigner): Promise<ContractWallet> {
      const wallet = (await ethers.deployContract("ContractWallet", [
        owner.address,
      ])) as unknown as ContractWallet;
      await token.mint(await wallet.getAddress(), 10_000_000n);
      const approval = token.interface.encodeFunctionData("approve", [escrowAddress, 2n ** 256n - 1n]);
      await wallet.connect(owner).execute(tokenAddress, approval);
      return wallet;
    },
  };
}

export type World = Awaited<ReturnType<typeof newWorld<"TestUSDC">>>;
export type HostileWorld = Awaited<ReturnType<typeof newWorld<"HostileToken">>>;
export type { ContractWallet, HardhatEthersSigner, Hire, LibrariesHarness };
export { ZeroAddress };

/** Gives every test of a suite a new world. It restores a snapshot, which is faster than to deploy again. */
export function useWorld(): () => World;
export function useWorld<T extends "TestUSDC" | "HostileToken">(
  token: T,
): () => Awaited<ReturnType<typeof newWorld<T>>>;
export function useWorld(token: "TestUSDC" | "HostileToken" = "TestUSDC") {
  let chain: Chain;
  let world: unknown;
  const deploy = () => newWorld(chain, token);
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    chain = await freshChain();
  });
  beforeEach(async () => {
    world = await chain.networkHelpers.loadFixture(deploy);
  });
  return () => world;
}

function lower(hire: Hire): Parameters<typeof escrowId>[0] {
  const lowered = Object.entries(hire).map(([name, value]) => [
    name,
    typeof value === "string" ? value.toLowerCase() : value,
  ]);
  return Object.fromEntries(lowered);
}
