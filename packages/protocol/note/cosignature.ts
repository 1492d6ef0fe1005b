import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { fromBase64, toBase64 } from "../base64.ts";
import { InvalidInputError } from "../errors.ts";
import { bytesEqual } from "../hex.ts";
import {
  isNoteKeyName,
  type NoteSignature,
  type NoteVerifierKey,
  noteKeyId,
  type SignedNote,
} from "./signedNote.ts";

/** Signature type of an Ed25519 cosignature (C2SP tlog-cosignature). */
const COSIGNATURE = 0x04;

/** A cosignature: 8 bytes of time and 64 of Ed25519. */
const LENGTH = 72;

/** The verifier key of a witness: its name and its Ed25519 public key, 32 bytes (C2SP tlog-cosignature). */
export function cosignerKey(name: string, publicKey: Uint8Array): NoteVerifierKey {
  return { name, keyId: noteKeyId(name, Uint8Array.of(COSIGNATURE, ...publicKey)), publicKey };
}

/** The verifier key of a witness as text: `name+keyid+base64(0x04 ‖ public key)`. */
export function formatCosignerKey({ name, keyId, publicKey }: NoteVerifierKey): string {
  return `${name}+${bytesToHex(keyId)}+${toBase64(Uint8Array.of(COSIGNATURE, ...publicKey))}`;
}

/**
 * Reads the verifier key of a witness.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseCosignerKey(text: string, field = "key"): NoteVerifierKey {
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text);
  if (match) {
    const [, name = "", keyId = "", encoded = ""] = match;
    const bytes = fromBase64(encoded, field);
    const key = cosignerKey(name, bytes.subarray(1));
    const isOurs = bytes[0] === COSIGNATURE && bytes.length === 33 && isNoteKeyName(name);
    if (isOurs && bytesToHex(key.keyId) === keyId) return key;
  }
  const message =
    "must be the verifier key of a witness, name+hash+base64, of an Ed25519 key (C2SP tlog-cosignature)";
  throw new InvalidInputError({ issues: [{ field, message }] });
}

/**
 * A witness's signature over the text of a checkpoint (C2SP tlog-cosignature, Ed25519).
 *
 * @param text the checkpoint's text, without its signatures
 * @param seed the Ed25519 seed, 32 bytes. Use it for cosignatures only: the signed text does not name the signer
 * @param time unix seconds, whole and above 0
 */
export function cosign(text: string, name: string, seed: Uint8Array, time: number): NoteSignature {
  const { keyId } = cosignerKey(name, ed25519.getPublicKey(seed));
  const stamp = new Uint8Array(8);
  new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
  return { name, keyId, signature: concatBytes(stamp, ed25519.sign(signedBytes(text, BigInt(time)), seed)) };
}

/**
 * When a witness cosigned a checkpoint, in unix seconds; undefined when no signature of its key is valid. If several
 * are valid, the newest counts. A time above the safe integers is invalid.
 */
export function cosignedAt(note: SignedNote, key: NoteVerifierKey): number | undefined {
  let newest: number | undefined;
  for (const { name, keyId, signature } of note.signatures) {
    if (name !== key.name || !bytesEqual(keyId, key.keyId) || signature.length !== LENGTH) continue;
    const time = new DataView(signature.buffer, signature.byteOffset, 8).getBigUint64(0);
    if (time === 0n || time > BigInt(Number.MAX_SAFE_INTEGER)) continue;
    if (!ed25519.verify(signature.subarray(8), signedBytes(note.text, time), key.publicKey)) continue;
    if (newest === undefined || Number(time) > newest) newest = Number(time);
  }
  return newest;
}

function signedBytes(text: string, time: bigint): Uint8Array {
  return utf8ToBytes(`cosignature/v1\ntime ${time}\n${text}`);
}
