import { instantiateSecp256k1 } from "@bitauth/libauth";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Address } from "tallystick-protocol/address";
import { fromHex, type Hex, toBareHex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { recordSigningHash } from "tallystick-protocol/records/record";

export type SigningAgent = { address: Address; privateKey: Uint8Array };

export type FastSigner = Awaited<ReturnType<typeof createFastSigner>>;

/** Signs records by WebAssembly: a hundred thousand take half a minute instead of several minutes. */
export async function createFastSigner() {
  const secp256k1 = await instantiateSecp256k1();
  return {
    agent: (privateKey: Uint8Array): SigningAgent => {
      const publicKey = secp256k1.derivePublicKeyUncompressed(privateKey);
      if (typeof publicKey === "string") throw new RangeError(publicKey);
      return { address: toHex(keccak_256(publicKey.subarray(1)).subarray(12)), privateKey };
    },
    /** EIP-191 over the body's digest, as a wallet signs it. */
    sign: ({ privateKey }: SigningAgent, body: RecordBody): Hex => {
      const signed = secp256k1.signMessageHashRecoverableCompact(
        privateKey,
        fromHex(recordSigningHash(body)),
      );
      if (typeof signed === "string") throw new RangeError(signed);
      return `0x${toBareHex(signed.signature)}${(27 + signed.recoveryId).toString(16)}`;
    },
  };
}
