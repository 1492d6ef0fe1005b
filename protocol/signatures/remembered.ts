import { toHex } from "../hex.ts";
import type { RecoverPublicKey } from "./recoverPublicKey.ts";

/**
 * Recovery that knows the latest answers, for those who ask about the same signature at two places.
 *
 * @param most how many answers are kept; some 400 bytes each
 */
export function remembered(recover: RecoverPublicKey, most = 10_000): RecoverPublicKey {
  const answers = new Map<string, Uint8Array>();
  return (hash, signature, recovery) => {
    const key = `${toHex(hash)}${toHex(signature)}${recovery}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const publicKey = recover(hash, signature, recovery);
    answers.set(key, publicKey);
    if (answers.size > most) {
      const [oldest] = answers.keys();
      if (oldest !== undefined) answers.delete(oldest);
    }
    return publicKey;
  };
}
