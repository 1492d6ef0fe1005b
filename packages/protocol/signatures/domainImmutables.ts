import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Hex } from "../hex.ts";
import { abiWord } from "./typedDataHash.ts";

const DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

/** The immutables that OpenZeppelin's EIP712 writes into a contract's code, by their names in its sources; 32 bytes each. */
export function domainImmutables(it: { name: string; version: string; chainId: number; address: Hex }): {
  [name: string]: Uint8Array;
} {
  const { name, version, chainId, address } = it;
  const [hashedName, hashedVersion] = [keccak_256(utf8ToBytes(name)), keccak_256(utf8ToBytes(version))];
  const [chain, self] = [abiWord("uint256", chainId, "chainId"), abiWord("address", address, "address")];
  const parts = concatBytes(keccak_256(utf8ToBytes(DOMAIN_TYPE)), hashedName, hashedVersion, chain, self);
  return {
    _cachedDomainSeparator: keccak_256(parts),
    _cachedChainId: chain,
    _cachedThis: self,
    _hashedName: hashedName,
    _hashedVersion: hashedVersion,
    _name: shortWord(name),
    _version: shortWord(version),
  };
}

/** OpenZeppelin's ShortString: up to 31 bytes at the left, and their number in the last byte. */
function shortWord(text: string): Uint8Array {
  const word = new Uint8Array(32);
  const bytes = utf8ToBytes(text);
  word.set(bytes);
  word[31] = bytes.length;
  return word;
}
