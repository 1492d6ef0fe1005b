import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "./address.ts";
import { fromHex, type Hex, toHex } from "./hex.ts";

/**
 * CreateX (createx.rocks), at this address on most chains: it deploys to addresses that are hashes of what is deployed.
 */
export const CREATEX: Address = "0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed";

/**
 * The salt of the project's own deployments. It names no deployer, so everybody deploys the same contract.
 */
export const RELEASE_SALT: Hex = toHex(keccak_256(utf8ToBytes("tallystick contracts, version 1")));

/**
 * Where CreateX deploys this init code, on every chain and for every sender (EIP-1014). Code at this address was put
 * there by exactly this constructor, so the storage also is what this constructor wrote. At another address, another
 * constructor may have deployed the same code. It could have written anything into the storage, for example credits
 * that nobody paid for.
 *
 * @param initCode with the constructor's arguments behind it
 * @param salt 32 bytes
 */
export function releaseAddress(initCode: Uint8Array, salt: Hex = RELEASE_SALT): Address {
  return releaseAddressOfHash(keccak_256(initCode), salt);
}

/** The same as {@link releaseAddress}, for a caller that has the keccak256 of the init code. */
export function releaseAddressOfHash(initCodeHash: Uint8Array, salt: Hex = RELEASE_SALT): Address {
  // CreateX hashes a salt that names neither a deployer nor the zero address.
  const guarded = keccak_256(fromHex(salt, 32, "salt"));
  const parts = concatBytes(Uint8Array.of(0xff), fromHex(CREATEX), guarded, initCodeHash);
  return toHex(keccak_256(parts).slice(12));
}
