import { keccak_256 } from "@noble/hashes/sha3.js";
import { fromHex, type Hex, toHex } from "../hex.ts";
import { releaseAddressOfHash } from "../releaseAddress.ts";
import { domainImmutables } from "../signatures/domainImmutables.ts";
import { anchoredLedger1 } from "./releases/anchoredLedger1.ts";

/**
 * How a contract's code compares with the released code.
 *
 * - "released": a released AnchoredLedger, at the address that its release has on every chain. So only the released
 *   code ever wrote its storage.
 * - "copied": the same code at another address. A different constructor may have written a head before this code ran.
 * - "unknown": other code. It may answer anything.
 */
export type LedgerCode = "released" | "copied" | "unknown";

/** A released AnchoredLedger: hashes of its init code and of its runtime code with zeros in place of the immutables. */
type Release = {
  initCodeHash: string;
  runtime: { hash: string; length: number };
  /** The name of each immutable, and the offsets of its 32 bytes in the runtime code. */
  immutables: { [name: string]: number[] };
};

const RELEASES: readonly Release[] = [anchoredLedger1];

/**
 * Compares a contract's runtime code with every release, byte by byte. Compares its immutables with their values at
 * this address on this chain.
 */
export function ledgerCode(code: Hex, { chainId, address }: { chainId: number; address: Hex }): LedgerCode {
  const bytes = fromHex(code);
  const release = RELEASES.find((it) => isSame(it, bytes, { chainId, address }));
  if (release === undefined) return "unknown";
  return releaseAddressOfHash(fromHex(release.initCodeHash)) === address ? "released" : "copied";
}

function isSame(
  { runtime, immutables }: Release,
  code: Uint8Array,
  place: { chainId: number; address: Hex },
): boolean {
  if (code.length !== runtime.length) return false;
  const values = domainImmutables({ name: "Tallystick AnchoredLedger", version: "1", ...place });
  const template = code.slice();
  for (const [name, offsets] of Object.entries(immutables)) {
    const value = values[name];
    if (value === undefined) return false;
    for (const at of offsets) {
      if (!value.every((byte, n) => byte === code[at + n])) return false;
      template.fill(0, at, at + 32);
    }
  }
  return toHex(keccak_256(template)) === runtime.hash;
}
