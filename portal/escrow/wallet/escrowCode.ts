import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { releaseAddress } from "tallystick-protocol/releaseAddress";
import { domainImmutables } from "tallystick-protocol/signatures/domainImmutables";
import { abiWord } from "tallystick-protocol/signatures/typedDataHash";
import hireEscrow1 from "../releases/hireEscrow1.json" with { type: "json" };

/**
 * A released HireEscrow: its init code, the place of the runtime code in it, and the places of the
 * immutables.
 */
type Release = {
  name: string;
  initCode: string;
  runtime: { start: number; length: number };
  /** The name of each immutable, and the offsets of its 32 bytes in the runtime code. */
  immutables: { [name: string]: number[] };
};

const RELEASES: readonly Release[] = [hireEscrow1];

/** The values in a contract's code, after it was recognized as a released one. */
export type EscrowCode = {
  release: string;
  token: Hex;
  guardian: Hex;
  providerId: string;
  /**
   * Whether this release with these arguments is deployed at exactly this address. Then only its own
   * constructor wrote its storage. If another constructor installed a copy of the code, the storage may
   * contain credits that nobody paid for.
   */
  isAtItsAddress: boolean;
};

/**
 * Compares a contract's runtime code with every release, byte by byte. It reads the token, the guardian and the
 * provider from the code. Every other immutable must have the value of a HireEscrow at this address on this chain.
 *
 * @returns null when the code belongs to no release
 */
export function releasedCode(
  code: Hex,
  { chainId, address }: { chainId: number; address: Hex },
): EscrowCode | null {
  for (const release of RELEASES) {
    const found = sameCode(release, fromHex(code), { chainId, address });
    if (found !== null) return found;
  }
  return null;
}

function sameCode(
  release: Release,
  code: Uint8Array,
  { chainId, address }: { chainId: number; address: Hex },
): EscrowCode | null {
  const { initCode, runtime, immutables } = release;
  const init = fromHex(initCode);
  if (code.length !== runtime.length) return null;
  const wordAt = (name: string): Uint8Array => {
    const at = immutables[name]?.[0] ?? 0;
    return code.slice(at, at + 32);
  };
  const [token, guardian, provider] = [wordAt("token"), wordAt("guardian"), wordAt("_providerId")];
  const providerId = shortText(provider);
  if (providerId === null) return null;
  // Every immutable by its name in the sources: OpenZeppelin's, and the contract's own.
  const domain = domainImmutables({ name: "Tallystick HireEscrow", version: "1", chainId, address });
  const values: { [name: string]: Uint8Array } = { ...domain, token, guardian, _providerId: provider };
  // The template has zeros in place of the immutables.
  const expected = init.slice(runtime.start, runtime.start + runtime.length);
  for (const [name, offsets] of Object.entries(immutables)) {
    const value = values[name];
    if (value === undefined) return null;
    for (const at of offsets) expected.set(value, at);
  }
  if (!expected.every((byte, at) => byte === code[at])) return null;
  const args = concatBytes(token, guardian, stringArgument(providerId));
  return {
    release: release.name,
    token: addressOf(token),
    guardian: addressOf(guardian),
    providerId,
    isAtItsAddress: releaseAddress(concatBytes(init, args)) === address,
  };
}

function shortText(word: Uint8Array): string | null {
  const length = word[31] ?? 0;
  if (length === 0 || length > 31 || word.slice(length, 31).some((byte) => byte !== 0)) return null;
  return new TextDecoder().decode(word.slice(0, length));
}

function stringArgument(text: string): Uint8Array {
  const bytes = utf8ToBytes(text);
  const padded = new Uint8Array(32);
  padded.set(bytes);
  return concatBytes(abiWord("uint256", 96, "offset"), abiWord("uint256", bytes.length, "length"), padded);
}

function addressOf(word: Uint8Array): Hex {
  return toHex(word.slice(12));
}
