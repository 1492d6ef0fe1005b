import type { Address } from "../address.ts";
import { isSignedBy, recordSigningHash, type SignedRecord } from "../records/record.ts";
import type { RecoverPublicKey } from "../signatures/recoverPublicKey.ts";
import { askWallet, type CallReader } from "./askWallet.ts";

/**
 * Whether a contract confirms a record's signature (ERC-1271), at the block that `chain` reads.
 *
 * @param recover recovers the key of a signature
 * @param witness a contract that exists at that block
 * @returns undefined when the signer's own key signed the record, or when the signer is not a contract; then the
 * signature alone decides
 * @throws TallystickError `chain_unavailable` when the chain cannot be asked
 */
export async function contractVerdict(
  chain: CallReader,
  record: SignedRecord,
  { recover, witness }: { recover?: RecoverPublicKey; witness?: Address } = {},
): Promise<boolean | undefined> {
  const { body, signer, signature } = record;
  if (isSignedBy(body, signature, signer, recover)) return undefined;
  const answer = await askWallet(chain, { signer, hash: recordSigningHash(body), signature }, witness);
  return answer === "no_contract" ? undefined : answer === "yes";
}
