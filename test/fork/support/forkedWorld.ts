import {
  Contract,
  hexlify,
  type Provider,
  randomBytes,
  type TypedDataDomain,
  type TypedDataField,
  Wallet,
} from "ethers";
import type { Address } from "tallystick-protocol/address";
import { receiveWithAuthorizationTypedData } from "tallystick-protocol/escrow/authorization";
import { escrowId, hireTypes } from "tallystick-protocol/escrow/hire";
import type { HireEscrow } from "../../../types/ethers-contracts/index.ts";
import { type Hire, hireOf } from "../../contracts/support/hire.ts";
import type { ForkedChain } from "./forkedChain.ts";
import { openSafe, takeOverSafe } from "./forkedSafe.ts";
import { type ForkSettings, tokenOf } from "./forkSettings.ts";
import { fundBuyer, impersonate } from "./fundBuyer.ts";

export const AMOUNT = 500_000n;
export const FEE = 25_000n;
export const STATUS = { Held: 1n, Released: 2n, Split: 3n, Refunded: 4n, TimedOut: 5n } as const;

const tokenAbi = [
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function balanceOf(address) view returns (uint256)",
  "function nonces(address) view returns (uint256)",
  "function approve(address, uint256)",
  "function blacklister() view returns (address)",
  "function blacklist(address)",
  "function unBlacklist(address)",
  "function transfer(address, uint256)",
  "function pauser() view returns (address)",
  "function pause()",
  "function unpause()",
];

/**
 * An escrow on a fork, with its parties. It is the escrow that the settings name, with its token and guardian. If they
 * name none, it is deployed here for the chain's own token, with a Safe as guardian. `safe` is undefined if the guardian
 * is not a Safe that needs two confirmations.
 */
export async function newForkedWorld(fork: ForkedChain, settings: ForkSettings) {
  const { ethers, networkHelpers, chainId } = fork;
  const provider = ethers.provider as unknown as Provider;
  // The keys are new. On public chains the well-known test accounts have EIP-7702 code, which changes who can sign.
  const person = async () => {
    const wallet = new Wallet(hexlify(randomBytes(32)), provider);
    await networkHelpers.setBalance(wallet.address, 10n ** 18n);
    return wallet;
  };
  const buyer = await person();
  const [seller, payee, feeRecipient, arbiter, stranger] = [
    await person(),
    await person(),
    await person(),
    await person(),
    await person(),
  ];
  const owners: [Wallet, Wallet, Wallet] = [await person(), await person(), await person()];
  const live = settings.escrow && ((await ethers.getContractAt("HireEscrow", settings.escrow)) as HireEscrow);
  const token = new Contract(live ? await live.token() : tokenOf(settings, chainId), tokenAbi, provider);
  const tokenAddress = (await token.getAddress()).toLowerCase() as Address;
  await fundBuyer(fork, {
    token: tokenAddress,
    buyer: buyer.address,
    amount: 20n * AMOUNT,
    ...(settings.holder && { holder: settings.holder }),
  });
  const addresses = owners.map((owner) => owner.address);
  const safe = live
    ? await takeOverSafe(fork, await live.guardian(), addresses, stranger)
    : await openSafe(fork, addresses, stranger);
  const escrow =
    live ??
    ((await (
      await ethers.getContractFactory("HireEscrow")
    ).deploy(
      tokenAddress,
      await (safe as Contract).getAddress(),
      "swarmwage-partnered",
    )) as unknown as HireEscrow);
  await escrow.waitForDeployment();
  const escrowAddress = (await escrow.getAddress()).toLowerCase() as Address;
  await (token.connect(buyer) as Contract).getFunction("approve")(escrowAddress, 2n ** 255n);

  const escrowDomain = {
    name: "Tallystick HireEscrow",
    version: "1",
    chainId,
    verifyingContract: escrowAddress,
  };
  const tokenDomain = await domainOf(token, chainId);
  const now = async () => BigInt(await networkHelpers.time.latest());
  const hire = async (terms: Partial<Hire> = {}): Promise<Hire> =>
    hireOf({
      buyer: buyer.address,
      seller: seller.address,
      payee: payee.address,
      amount: AMOUNT,
      fee: FEE,
      feeRecipient: feeRecipient.address,
      arbiter: arbiter.address,
      deadline: (await now()) + 3_600n,
      ...terms,
    });
  const idOf = (terms: Hire) => escrowId(lower(terms), { chainId, escrow: escrowAddress });
  const authorization = (
    terms: Hire,
  ): [TypedDataDomain, Record<string, TypedDataField[]>, Record<string, unknown>] => {
    const data = receiveWithAuthorizationTypedData(
      {
        from: terms.buyer as Address,
        to: escrowAddress,
        value: terms.amount,
        validAfter: 0n,
        validBefore: terms.deadline,
        nonce: idOf(terms),
      },
      { name: "", version: "", chainId, token: tokenAddress },
    );
    return [tokenDomain, { [data.primaryType]: [...data.types[data.primaryType]] }, data.message];
  };
  const balance = (account: { address: string } | string): Promise<bigint> =>
    token.getFunction("balanceOf")(typeof account === "string" ? account : account.address);

  return {
    fork,
    token,
    tokenAddress,
    tokenDomain,
    safe,
    escrow,
    escrowAddress,
    buyer,
    seller,
    payee,
    feeRecipient,
    arbiter,
    stranger,
    owners,
    hire,
    idOf,
    balance,

    /** The typed data of the authorization that the buyer signs. With this signature anybody can deposit the hire. */
    authorization,

    /** A hire that a stranger deposited with the buyer's authorization. */
    async held(terms: Partial<Hire> = {}): Promise<Hire> {
      const signed = await hire(terms);
      const signature = await buyer.signTypedData(...authorization(signed));
      await escrow.connect(stranger).depositWithAuthorization(signed, 0n, signed.deadline, signature);
      return signed;
    },

    /** The buyer's permit for the amount of a hire. */
    async signPermit(terms: Hire): Promise<string> {
      const field = (name: string, type: string) => ({ name, type });
      const Permit = [
        field("owner", "address"),
        field("spender", "address"),
        field("value", "uint256"),
        field("nonce", "uint256"),
        field("deadline", "uint256"),
      ];
      const message = {
        owner: terms.buyer,
        spender: escrowAddress,
        value: terms.amount,
        nonce: await token.getFunction("nonces")(terms.buyer),
        deadline: terms.deadline,
      };
      return buyer.signTypedData(tokenDomain, { Permit }, message);
    },

    /** A wallet's signature over a message of one of the escrow's types. */
    sign: (wallet: Wallet, name: keyof typeof hireTypes, message: Record<string, unknown>) =>
      wallet.signTypedData(escrowDomain, { [name]: [...hireTypes[name]] }, message),

    status: async (terms: Hire) => (await escrow.stateOf(idOf(terms))).status,

    /** How much an action changes the balance of each account. */
    async moved(accounts: ({ address: string } | string)[], action: () => Promise<unknown>) {
      const before = await Promise.all(accounts.map(balance));
      await action();
      const after = await Promise.all(accounts.map(balance));
      return after.map((value, i) => value - (before[i] as bigint));
    },

    /** A message of one of the escrow's types, as typed data. */
    typed: (name: keyof typeof hireTypes, message: Record<string, unknown>) =>
      [escrowDomain, { [name]: [...hireTypes[name]] }, message] as [
        TypedDataDomain,
        Record<string, TypedDataField[]>,
        Record<string, unknown>,
      ],

    /** Pauses or unpauses the token as its pauser. Returns false if the token has no pauser. */
    async stop(stopped: boolean): Promise<boolean> {
      const pauser: string | undefined = await token
        .getFunction("pauser")()
        .catch(() => undefined);
      if (pauser === undefined) return false;
      const signer = await impersonate(fork, pauser);
      await (token.connect(signer as unknown as Wallet) as Contract).getFunction(
        stopped ? "pause" : "unpause",
      )();
      return true;
    },

    /** Bars or unbars an account in the token's denylist. Returns false if the token has no denylist. */
    async bar(account: string, barred: boolean): Promise<boolean> {
      const blacklister: string | undefined = await token
        .getFunction("blacklister")()
        .catch(() => undefined);
      if (blacklister === undefined) return false;
      const signer = await impersonate(fork, blacklister);
      const name = barred ? "blacklist" : "unBlacklist";
      await (token.connect(signer as unknown as Wallet) as Contract).getFunction(name)(account);
      return true;
    },
  };
}

export type ForkedWorld = Awaited<ReturnType<typeof newForkedWorld>>;

/** The token's EIP-712 domain: from ERC-5267, or from `name` and `version` if the token, such as FiatToken, lacks it. */
async function domainOf(token: Contract, chainId: number): Promise<TypedDataDomain> {
  const [name, version] = await token
    .getFunction("eip712Domain")()
    .then((fields: unknown[]) => [fields[1], fields[2]] as [string, string])
    .catch(
      async () =>
        [await token.getFunction("name")(), await token.getFunction("version")()] as [string, string],
    );
  return { name, version, chainId, verifyingContract: await token.getAddress() };
}

function lower(hire: Hire): Parameters<typeof escrowId>[0] {
  const lowered = Object.entries(hire).map(([name, value]) => [
    name,
    typeof value === "string" ? value.toLowerCase() : value,
  ]);
  return Object.fromEntries(lowered);
}
