const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Writes bytes in Crockford's base 32: five bits for each character. Zero bits fill up the last character. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(buffer >> bits) & 31];
    }
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(buffer << (5 - bits)) & 31];
}
