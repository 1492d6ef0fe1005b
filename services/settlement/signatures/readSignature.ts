import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { signerOfDigest, textDigest } from "tallystick-protocol/signatures/signedText";

/** What a signature says of a body: the body's digest, and whose wallet key signed it; undefined when none did. */
export type SignatureReading = { digest: Hex; signer: Address | undefined };

/** Reads a signature over a body, which comes as its canonical text. */
export type ReadSignature = (
  canonicalBody: string,
  signature: string,
) => SignatureReading | Promise<SignatureReading>;

/** {@link ReadSignature} where it is called. */
export function readSignatureHere(recover: RecoverPublicKey = recoverByNoble) {
  return (canonicalBody: string, signature: string): SignatureReading => {
    const digest = textDigest(canonicalBody);
    return { digest: toHex(digest), signer: signerOfDigest(digest, signature, recover) ?? undefined };
  };
}
