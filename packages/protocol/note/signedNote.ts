import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { fromBase64, toBase64 } from "../base64.ts";
import { InvalidInputError } from "../errors.ts";
import { bytesEqual } from "../hex.ts";

/** One signature line of a note: the signer's name, the id of its key (4 bytes), and the signature. */
export type NoteSignature = { name: string; keyId: Uint8Array; signature: Uint8Array };

/** A signed note (C2SP signed-note): text that ends in a newline, and at least one signature over it. */
export type SignedNote = { text: string; signatures: NoteSignature[] };

/** A public key by which Ed25519 note signatures are checked. */
export type NoteVerifierKey = { name: string; keyId: Uint8Array; publicKey: Uint8Array };

/** Signature type of Ed25519 in C2SP signed-note. */
const ED25519 = 0x01;
const EM_DASH = "\u2014";

/**
 * The longest note that is read, in UTF-16 units, and the most signatures under a note. Both limits are those of Go's
 * sumdb/note.
 */
const MAX_NOTE_LENGTH = 1_000_000;
const MAX_SIGNATURES = 100;

/**
 * The 4-byte id of a key: SHA-256(name ‖ 0x0A ‖ signature type and public key)[:4] (C2SP signed-note).
 *
 * @param key signature type and public key, as the type defines
 */
export function noteKeyId(name: string, key: Uint8Array): Uint8Array {
  return sha256(concatBytes(utf8ToBytes(name), Uint8Array.of(0x0a), key)).slice(0, 4);
}

/** Whether a name may sign notes: not empty, without spaces and plus signs (C2SP signed-note). */
export function isNoteKeyName(name: string): boolean {
  return /^[^\s+\p{Cc}]+$/u.test(name);
}

/** Signs a note's text with an Ed25519 key (32-byte seed). */
export function signNote(text: string, name: string, secretKey: Uint8Array): NoteSignature {
  const keyId = noteVerifierKey(name, ed25519.getPublicKey(secretKey)).keyId;
  return { name, keyId, signature: ed25519.sign(utf8ToBytes(text), secretKey) };
}

/** The verifier key that belongs to a name and an Ed25519 public key (32 bytes). */
export function noteVerifierKey(name: string, publicKey: Uint8Array): NoteVerifierKey {
  return { name, keyId: noteKeyId(name, Uint8Array.of(ED25519, ...publicKey)), publicKey };
}

/** A verifier key as text: `name+keyid+base64(0x01 ‖ public key)`, the `vkey` of C2SP signed-note. */
export function formatVerifierKey({ name, keyId, publicKey }: NoteVerifierKey): string {
  return `${name}+${bytesToHex(keyId)}+${toBase64(Uint8Array.of(ED25519, ...publicKey))}`;
}

/**
 * Reads a `vkey`.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseVerifierKey(text: string, field = "key"): NoteVerifierKey {
  // Base 64 may contain plus signs, but names must not. So the first two plus signs are the separators.
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text);
  if (match) {
    const [, name = "", keyId = "", encoded = ""] = match;
    const bytes = fromBase64(encoded, field);
    const key = noteVerifierKey(name, bytes.subarray(1));
    if (
      bytes[0] === ED25519 &&
      bytes.length === 33 &&
      isNoteKeyName(name) &&
      bytesToHex(key.keyId) === keyId
    ) {
      return key;
    }
  }
  throw new InvalidInputError({
    issues: [
      { field, message: "must be a verifier key, name+hash+base64, of an Ed25519 key (C2SP signed-note)" },
    ],
  });
}

/** The note as text: its text, an empty line, and one line for each signature. */
export function formatSignedNote({ text, signatures }: SignedNote): string {
  return `${text}\n${formatSignatureLines(signatures)}`;
}

/** Writes signatures as lines. Such lines can be appended to a note that has signatures already. */
export function formatSignatureLines(signatures: readonly NoteSignature[]): string {
  const lines = signatures.map(
    ({ name, keyId, signature }) => `${EM_DASH} ${name} ${toBase64(concatBytes(keyId, signature))}\n`,
  );
  return lines.join("");
}

/**
 * Reads a signed note. Checks its form, but no signature.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseSignedNote(note: string, field = "note"): SignedNote {
  const refuse = (message: string): never => {
    throw new InvalidInputError({ issues: [{ field, message }] });
  };
  if (note.length > MAX_NOTE_LENGTH) refuse(`must have at most ${MAX_NOTE_LENGTH} characters`);
  if (/\p{Cc}|\p{Cs}/u.test(note.replaceAll("\n", ""))) refuse("has a control character");
  const split = note.lastIndexOf("\n\n");
  if (split === -1 || !note.endsWith("\n")) refuse("has no signatures behind an empty line");
  const lines = note.slice(split + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) refuse(`must have at most ${MAX_SIGNATURES} signatures`);
  const signatures = lines.map((line): NoteSignature => {
    const [dash, name = "", encoded, ...rest] = line.split(" ");
    if (dash !== EM_DASH || encoded === undefined || rest.length > 0 || !isNoteKeyName(name)) {
      return refuse("has a line among its signatures that is not a signature");
    }
    const bytes = fromBase64(encoded, field);
    if (bytes.length < 5) refuse("has a signature without bytes");
    return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
  });
  return { text: note.slice(0, split + 1), signatures };
}

/** Whether one of the note's signatures is by this key, and valid. */
export function isNoteSignedBy(note: SignedNote, key: NoteVerifierKey): boolean {
  return note.signatures.some(
    ({ name, keyId, signature }) =>
      name === key.name &&
      bytesEqual(keyId, key.keyId) &&
      signature.length === 64 &&
      ed25519.verify(signature, utf8ToBytes(note.text), key.publicKey),
  );
}
