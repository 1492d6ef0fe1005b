import type { Address } from "../../protocol/address.ts";
import { InvalidInputError } from "../../protocol/errors.ts";
import type { Hex } from "../../protocol/hex.ts";
import {
  isDigestSignedBy,
  recordDigest,
  recordSigningHash,
  type SignedRecord,
} from "../../protocol/records/record.ts";
import type { RecoverPublicKey } from "../../protocol/signatures/recoverPublicKey.ts";

/** Asks a contract wallet whether a signature over a hash is its own (ERC-1271). False for an address without code. */
export type IsContractSignature = (parameters: {
  signer: Address;
  hash: Hex;
  signature: Hex;
}) => Promise<boolean>;

/**
 * Whether `signature` is `signer`'s: by its key, else by its contract when there is a chain to ask.
 *
 * @param recover how keys are recovered; in plain JavaScript unless given
 * @param digest the body's `recordDigest`, when it is at hand
 * @throws InvalidInputError `invalid_signature` naming `signature`, with the digest that should have been signed
 */
export async function checkSignature(
  record: SignedRecord,
  isContractSignature: IsContractSignature | undefined,
  recover?: RecoverPublicKey,
  digest: Hex = recordDigest(record.body),
): Promise<void> {
  const { body, signer, signature } = record;
  if (isDigestSignedBy(digest, signature, signer, recover)) return;
  if (await isContractSignature?.({ signer, hash: recordSigningHash(body), signature })) return;
  throw new InvalidInputError({
    code: "invalid_signature",
    issues: [{ field: "signature", message: `is not ${signer}'s over this body` }],
    hint:
      `Sign the 32 bytes ${digest} as a message (EIP-191): keccak256 of the body as JSON with its keys ` +
      "sorted at every level and no spaces.",
  });
}
