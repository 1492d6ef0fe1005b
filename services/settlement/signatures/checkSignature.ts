import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { canonicalBody } from "tallystick-protocol/json/recordBody";
import { recordSigningHash, type SignedRecord } from "tallystick-protocol/records/record";
import { type ReadSignature, readSignatureHere } from "tallystick-runtime/signatures/readSignature";

/** Asks a contract wallet whether a signature over a hash is its own (ERC-1271). False for an address without code. */
export type IsContractSignature = (parameters: {
  signer: Address;
  hash: Hex;
  signature: Hex;
}) => Promise<boolean>;

/**
 * Checks that `signer` made `signature`: by its key, or otherwise by its contract if there is a chain.
 *
 * @param readSignature how keys are recovered. Default: on this thread, in plain JavaScript
 * @returns the body's digest
 * @throws InvalidInputError `invalid_signature` naming `signature`, with the digest that should have been
 * signed
 */
export async function checkSignature(
  { body, signer, signature }: SignedRecord,
  isContractSignature: IsContractSignature | undefined,
  readSignature: ReadSignature = readSignatureHere(),
): Promise<Hex> {
  const reading = await readSignature(canonicalBody(body), signature);
  if (reading.signer === signer) return reading.digest;
  if (await isContractSignature?.({ signer, hash: recordSigningHash(body), signature }))
    return reading.digest;
  throw new InvalidInputError({
    code: "invalid_signature",
    issues: [{ field: "signature", message: `is not a signature of ${signer} over this body` }],
    hint:
      `Sign the 32 bytes ${reading.digest} as a message (EIP-191): keccak256 of the body as JSON with its keys ` +
      "sorted at every level and no spaces.",
  });
}
