import { utf8ToBytes } from "@noble/hashes/utils.js";
import { hashTypedData } from "viem";
import type { Address } from "../address.ts";
import { bytesEqual, fromHex, type Hex, toHex } from "../hex.ts";
import { type AnchorDeployment, headTypedData } from "../ledger/anchor.ts";
import { recoverSigner } from "../signatures/recoverSigner.ts";
import { type NoteSignature, noteKeyId, type SignedNote } from "./signedNote.ts";

/**
 * How a checkpoint carries its writer's EIP-712 `Head` signature: as a note signature of a type of our own (0xff and
 * a name, C2SP signed-note), which other readers pass over. The key is the writer's address.
 */
const HEAD_TYPE = Uint8Array.of(0xff, ...utf8ToBytes("tallystick/eip712-head"));

function headKeyId(name: string, writer: Address): Uint8Array {
  return noteKeyId(name, Uint8Array.of(...HEAD_TYPE, ...fromHex(writer, 20)));
}

/** The note signature that carries a `Head` signature (65 bytes r ‖ s ‖ v). */
export function headNoteSignature(name: string, writer: Address, signature: Hex): NoteSignature {
  return { name, keyId: headKeyId(name, writer), signature: fromHex(signature, 65) };
}

/** The `Head` signature that a checkpoint carries for this writer, undefined when it has none. Not checked yet. */
export function headSignatureOf(note: SignedNote, name: string, writer: Address): Hex | undefined {
  const keyId = headKeyId(name, writer);
  const found = note.signatures.find(
    (one) => one.name === name && bytesEqual(one.keyId, keyId) && one.signature.length === 65,
  );
  return found && toHex(found.signature);
}

/** Whether `signature` is the writer's over `Head(ledgerId, size, root)` for this contract. Wallet keys only. */
export function isHeadSignedBy(
  writer: Address,
  head: { ledgerId: Hex; size: bigint; root: Hex },
  deployment: AnchorDeployment,
  signature: Hex,
): boolean {
  try {
    return recoverSigner(fromHex(hashTypedData(headTypedData(head, deployment))), signature) === writer;
  } catch {
    return false;
  }
}
