import type { Address } from "tallystick-protocol/address";
import { encodeAbiParameters, keccak256, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Wallet } from "../support/localChain.ts";

/**
 * These three wallets of generated logs have roles, which the node's settings name once. So they are the same in every
 * run.
 */
export const [ATTESTOR, OPERATOR, ARBITER] = [13, 14, 15];

/** A wallet with a real key for wallet `n` of the generated log of a run. */
export function actor(run: number, n: number): Wallet {
  const privateKey = keccak256(toHex(`equivalence ${n >= ATTESTOR && n <= ARBITER ? "roles" : run} ${n}`));
  const account = privateKeyToAccount(privateKey);
  return { account, privateKey, address: account.address.toLowerCase() as Address };
}

/** Where OpenZeppelin's ERC20 keeps the balance of an address. */
export function balanceSlot(owner: Address): `0x${string}` {
  return keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [owner, 0n]));
}

/** Where OpenZeppelin's ERC20 keeps the amount that `spender` may take from `owner`. */
export function allowanceSlot(owner: Address, spender: Address): `0x${string}` {
  const inner = keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [owner, 1n]));
  return keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [spender, inner]));
}
