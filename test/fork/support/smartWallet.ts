import {
  type Contract,
  concat,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
  type Wallet,
} from "ethers";
import type { ForkedChain } from "./forkedChain.ts";

type TypedData = [TypedDataDomain, Record<string, TypedDataField[]>, Record<string, unknown>];

/** A Safe's signature (ERC-1271). The owners sign a message of the Safe that contains the digest. */
export async function signBySafe(
  safe: Contract,
  chainId: number,
  by: Wallet[],
  [domain, types, message]: TypedData,
) {
  const digest = TypedDataEncoder.hash(domain, types, message);
  const ownDomain = { chainId, verifyingContract: await safe.getAddress() };
  const ownTypes = { SafeMessage: [{ name: "message", type: "bytes" }] };
  // The Safe requires the signatures in the order of the owners' addresses.
  const sorted = [...by].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  return concat(
    await Promise.all(sorted.map((it) => it.signTypedData(ownDomain, ownTypes, { message: digest }))),
  );
}

/** Lets a key's account use the code of another account (EIP-7702). The key does not change. */
export async function delegate(
  fork: ForkedChain,
  account: Wallet,
  to: string,
  sender: Wallet,
): Promise<void> {
  const nonce = BigInt(await fork.ethers.provider.getTransactionCount(account.address));
  const signed = account.authorizeSync({ address: to, nonce, chainId: BigInt(fork.chainId) });
  const sent = await sender.sendTransaction({ type: 4, to: sender.address, authorizationList: [signed] });
  await sent.wait();
  const code = await fork.ethers.provider.getCode(account.address);
  if (code.toLowerCase() !== `0xef0100${to.slice(2).toLowerCase()}`)
    throw new Error(`${account.address} did not become a delegated account`);
}
