import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { type Hex, toHex } from "../hex.ts";
import { abiWord } from "../signatures/typedDataHash.ts";

/** One AnchoredLedger contract. */
export type AnchorDeployment = { chainId: number; contract: Address };

/**
 * The id of a ledger: keccak256(abi.encode(chainId, contract, writer, guardian, origin)). It can be computed
 * before the ledger is opened.
 *
 * @param writer the ledger's first writer. A later writer does not change the id
 * @param guardian who may announce another writer; the zero address for nobody
 * @param origin the ledger's name, as in its C2SP checkpoints, e.g. `tallystick.example/main`
 */
export function ledgerId(
  parameters: AnchorDeployment & { writer: Address; guardian: Address; origin: string },
): Hex {
  const { chainId, contract, writer, guardian, origin } = parameters;
  const words = [
    abiWord("uint256", chainId, "chainId"),
    ...Object.entries({ contract, writer, guardian }).map(([field, it]) => abiWord("address", it, field)),
  ];
  // The ABI writes a text after the fixed words. The last fixed word is its offset. Then come the text's length and
  // its bytes, with zeros up to the end of a word.
  const text = utf8ToBytes(origin);
  const place = abiWord("uint256", 32 * (words.length + 1), "origin");
  const length = abiWord("uint256", text.length, "origin");
  const padding = new Uint8Array((32 - (text.length % 32)) % 32);
  return toHex(keccak_256(concatBytes(...words, place, length, text, padding)));
}

/** The EIP-712 domain of an AnchoredLedger. */
export function anchorDomain({ chainId, contract }: AnchorDeployment) {
  return { name: "Tallystick AnchoredLedger", version: "1", chainId, verifyingContract: contract } as const;
}

/** The EIP-712 types an AnchoredLedger knows. */
export const anchorTypes = {
  Anchor: [
    { name: "ledgerId", type: "bytes32" },
    { name: "seq", type: "uint64" },
    { name: "newSize", type: "uint64" },
    { name: "newRoot", type: "bytes32" },
  ],
  Head: [
    { name: "ledgerId", type: "bytes32" },
    { name: "size", type: "uint64" },
    { name: "root", type: "bytes32" },
  ],
} as const;

/**
 * What the writer signs so that anyone may relay one anchor. `seq` is the number that this anchor gets, so the
 * signature works only once.
 */
export function anchorTypedData(
  message: { ledgerId: Hex; seq: bigint; newSize: bigint; newRoot: Hex },
  deployment: AnchorDeployment,
) {
  return {
    domain: anchorDomain(deployment),
    types: { Anchor: anchorTypes.Anchor },
    primaryType: "Anchor",
    message,
  } as const;
}

/**
 * What the writer signs under a checkpoint. An honest writer signs only a size and a root that the contract has or had.
 * A signature over a size and a root of another history is evidence for `proveFork`.
 */
export function headTypedData(
  message: { ledgerId: Hex; size: bigint; root: Hex },
  deployment: AnchorDeployment,
) {
  return {
    domain: anchorDomain(deployment),
    types: { Head: anchorTypes.Head },
    primaryType: "Head",
    message,
  } as const;
}
