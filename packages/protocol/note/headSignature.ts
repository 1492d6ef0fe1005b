import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { bytesEqual, fromHex, type Hex, toHex } from "../hex.ts";
import { type AnchorDeployment, headTypedData } from "../ledger/anchor.ts";
import { recoverSigner } from "../signatures/recoverSigner.ts";
import { typedDataHash } from "../signatures/typedDataHash.ts";
import { type NoteSignature, noteKeyId, type SignedNote } from "./signedNote.ts";

/** What signs for a writer: a wallet key, or a contract (ERC-1271). */
export type HeadSigner = "key" | "contract";

/**
 * The `Head` signature that a checkpoint carries. Only the signature of a key can be checked without the
 * chain.
 */
export type HeadSignature = { by: HeadSigner; signature: Hex };

/** The longest signature of a contract, in bytes. No contract is asked about a longer signature. */
export const MAX_CONTRACT_SIGNATURE_BYTES = 40_000;

/**
 * A checkpoint carries its writer's EIP-712 `Head` signature as a note signature of our own type: 0xff and a name
 * (C2SP signed-note). Other readers ignore this type. In place of a public key it has the writer's address. A
 * contract's signature has another type, because only the contract can check it. So nobody takes it for a key's
 * signature.
 */
const TYPES: { readonly [signer in HeadSigner]: Uint8Array } = {
  key: Uint8Array.of(0xff, ...utf8ToBytes("tallystick/eip712-head")),
  contract: Uint8Array.of(0xff, ...utf8ToBytes("tallystick/erc1271-head")),
};

function headKeyId(by: HeadSigner, name: string, writer: Address): Uint8Array {
  return noteKeyId(name, Uint8Array.of(...TYPES[by], ...fromHex(writer, 20)));
}

/**
 * The note signature that carries a `Head` signature. A key's signature has 65 bytes (r ‖ s ‖ v), a contract's has 1 to
 * 40,000 bytes.
 *
 * @throws InvalidInputError naming `signature` for another length
 */
export function headNoteSignature(
  name: string,
  writer: Address,
  { by, signature }: HeadSignature,
): NoteSignature {
  const bytes = fromHex(signature);
  requireLength(by, bytes, "signature");
  return { name, keyId: headKeyId(by, name, writer), signature: bytes };
}

/**
 * The `Head` signature of this writer in a checkpoint; undefined when there is none. The signature is not checked here.
 *
 * @throws InvalidInputError naming `field` when the checkpoint has two, or when the length is impossible
 */
export function headSignatureOf(
  note: SignedNote,
  name: string,
  writer: Address,
  field = "checkpoint",
): HeadSignature | undefined {
  const found = (["key", "contract"] as const).flatMap((by) => {
    const keyId = headKeyId(by, name, writer);
    return note.signatures
      .filter((one) => one.name === name && bytesEqual(one.keyId, keyId))
      .map(({ signature }) => ({ by, signature }));
  });
  if (found.length > 1) {
    const message = "has two signatures of one writer; one is enough";
    throw new InvalidInputError({ issues: [{ field, message }] });
  }
  const [one] = found;
  if (one === undefined) return undefined;
  requireLength(one.by, one.signature, field);
  return { by: one.by, signature: toHex(one.signature) };
}

function requireLength(by: HeadSigner, { length }: Uint8Array, field: string): void {
  if (by === "key" ? length === 65 : length > 0 && length <= MAX_CONTRACT_SIGNATURE_BYTES) return;
  const wanted = by === "key" ? "65 bytes" : `1 to ${MAX_CONTRACT_SIGNATURE_BYTES} bytes`;
  const message = `has a writer's signature of ${length} bytes; a ${by}'s signature has ${wanted}`;
  throw new InvalidInputError({ issues: [{ field, message }] });
}

/** What a writer signs for a head: the EIP-712 digest of `Head(ledgerId, size, root)`, 32 bytes. */
export function headDigest(
  head: { ledgerId: Hex; size: bigint; root: Hex },
  deployment: AnchorDeployment,
): Hex {
  return typedDataHash(headTypedData(head, deployment));
}

/**
 * Whether the writer's wallet key made this signature over `Head(ledgerId, size, root)` for this contract. It must end
 * in v = 27 or 28, because the contract accepts no other. With another v, a writer could sign two histories that
 * readers believe and that `proveFork` refuses as evidence.
 */
export function isHeadSignedBy(
  writer: Address,
  head: { ledgerId: Hex; size: bigint; root: Hex },
  deployment: AnchorDeployment,
  signature: Hex,
): boolean {
  try {
    if ((fromHex(signature, 65)[64] as number) < 27) return false;
    return recoverSigner(fromHex(headDigest(head, deployment)), signature) === writer;
  } catch {
    return false;
  }
}
