import { InvalidInputError } from "./errors.ts";

/** Bytes in standard base 64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/**
 * Reads bytes in standard base 64. It accepts only the spelling that {@link toBase64} writes.
 *
 * @throws InvalidInputError naming `field`
 */
export function fromBase64(text: string, field = "base64"): Uint8Array {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    if (toBase64(bytes) === text) return bytes;
  } catch {
    // `atob` refused the text. It gets the same error as another spelling.
  }
  throw new InvalidInputError({ issues: [{ field, message: "must be base 64 with padding" }] });
}
