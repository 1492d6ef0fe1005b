import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { signerOfDigest, textDigest } from "tallystick-protocol/signatures/signedText";

/**
 * The result of reading a signature over a text: the text's digest, and the wallet whose key signed it; null
 * if it is not valid.
 */
export type SignatureReading = { digest: Hex; signer: Address | null };

/** Reads a signature over a text, such as the canonical text of a body. */
export type ReadSignature = (text: string, signature: string) => SignatureReading | Promise<SignatureReading>;

/** Reads signatures in the calling thread. */
export function readSignatureHere(recover: RecoverPublicKey = recoverByNoble) {
  return (text: string, signature: string): SignatureReading => {
    const digest = textDigest(text);
    return { digest: toHex(digest), signer: signerOfDigest(digest, signature, recover) };
  };
}
