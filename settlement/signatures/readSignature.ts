import type { Address } from "../../protocol/address.ts";
import { type Hex, toHex } from "../../protocol/hex.ts";
import { type RecoverPublicKey, recoverByNoble } from "../../protocol/signatures/recoverPublicKey.ts";
import { signerOfDigest, textDigest } from "../../protocol/signatures/signedText.ts";

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
