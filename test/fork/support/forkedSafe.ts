import { Contract, concat, type Signer, type Wallet, ZeroAddress } from "ethers";
import { deployGuardianSafe } from "../../../scripts/ignition/deployGuardianSafe.ts";
import { safeArtifact } from "../../../scripts/ignition/modules/GuardianSafe.ts";
import type { ForkedChain } from "./forkedChain.ts";
import { impersonate } from "./fundBuyer.ts";

/** The addresses of Safe 1.4.1, which are the same on every chain (safe-global/safe-deployments). */
const CANONICAL = {
  singleton: "0x29fcB43b46531BcA003ddC8FCB67FFE91900C762",
  factory: "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
  handler: "0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99",
};

const safeAbi = safeArtifact("Safe.sol/Safe").abi;

/** A Safe that needs two confirmations. It is made by the chain's Safe contracts, or deployed here if there are none. */
export async function openSafe(fork: ForkedChain, owners: string[], sender: Signer): Promise<Contract> {
  const codes = await Promise.all(
    Object.values(CANONICAL).map((address) => fork.ethers.provider.getCode(address)),
  );
  const address = codes.every((code) => code !== "0x")
    ? await createByFactory(owners, sender)
    : await deployGuardianSafe({ connection: fork.connection, owners });
  return new Contract(address, safeAbi, sender);
}

/**
 * Replaces the first owners of an existing Safe by our own accounts. On the fork, the Safe itself makes the calls.
 *
 * @returns undefined when the guardian is not a Safe of three or more owners of which exactly two confirm
 */
export async function takeOverSafe(
  fork: ForkedChain,
  guardian: string,
  owners: string[],
  sender: Signer,
): Promise<Contract | undefined> {
  const safe = new Contract(guardian, safeAbi, sender);
  const read = Promise.all([safe.getFunction("getOwners")(), safe.getFunction("getThreshold")()]);
  const [there, threshold] = await read.catch(() => [[], 0n] as const);
  if (threshold !== 2n || there.length < owners.length) return undefined;
  const itself = new Contract(guardian, safeAbi, await impersonate(fork, guardian));
  // The owners are a linked list. The call needs the owner before the owner to replace.
  let previous = "0x0000000000000000000000000000000000000001";
  for (const [i, owner] of owners.entries()) {
    await itself.getFunction("swapOwner")(previous, there[i], owner);
    previous = owner;
  }
  return safe;
}

async function createByFactory(owners: string[], sender: Signer): Promise<string> {
  const factory = new Contract(
    CANONICAL.factory,
    safeArtifact("proxies/SafeProxyFactory.sol/SafeProxyFactory").abi,
    sender,
  );
  const singleton = new Contract(CANONICAL.singleton, safeAbi, sender);
  const zero = ZeroAddress;
  const setup = [owners, 2, zero, "0x", CANONICAL.handler, zero, 0, zero];
  const initializer = singleton.interface.encodeFunctionData("setup", setup);
  const create = factory.getFunction("createProxyWithNonce");
  const salt = BigInt(owners[0] as string);
  const proxy: string = await create.staticCall(CANONICAL.singleton, initializer, salt);
  await (await create(CANONICAL.singleton, initializer, salt)).wait();
  return proxy;
}

/** One call by the Safe, with the confirmations of the given owners. */
export async function confirm(safe: Contract, to: string, data: string, by: Wallet[]) {
  const transaction = [to, 0n, data, 0, 0n, 0n, 0n, ZeroAddress, ZeroAddress] as const;
  const nonce = await safe.getFunction("nonce")();
  const hash: string = await safe.getFunction("getTransactionHash")(...transaction, nonce);
  // The Safe requires the signatures in the order of the owners' addresses.
  const sorted = [...by].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const signatures = sorted.map((owner) => owner.signingKey.sign(hash).serialized);
  return safe.getFunction("execTransaction")(...transaction, concat(signatures));
}
