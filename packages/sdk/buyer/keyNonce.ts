import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { LocalAccount } from "viem";

/** Computes the nonces of hires with an idempotency key. */
export type KeyNonce = (key: string, of: { seller: string; mode: string; call: number }) => Promise<Hex>;

/**
 * The nonce for a seller in one call under a key. It is made of the wallet's signature over the key. So only the wallet
 * can compute it, even if the process has lost its records. No other seller can look up the job.
 */
export function keyNonces(account: LocalAccount): KeyNonce {
  // A hire needs several nonces, and some wallets are slow.
  let last: { key: string; signature: Promise<Hex> } | undefined;
  return async (key, { seller, mode, call }) => {
    if (last?.key !== key) {
      const signature = account.signMessage({ message: `Tallystick hire, idempotency key ${key}` });
      last = { key, signature };
      // A wallet that refuses once is asked again.
      signature.catch(() => {
        last = undefined;
      });
    }
    return toHex(sha256(utf8ToBytes(`${await last.signature}|${seller}|${mode}|${call}`)));
  };
}
