import { isSignedBy, type SignedRecord } from "../records/record.ts";
import { type Finding, notChecked } from "./finding.ts";

/** Checks a record's signature if a key made it. Only the chain can check the signature of a contract wallet. */
export function signatureFinding(entry: string, { body, signature, signer }: SignedRecord): Finding {
  const field = `${entry}.signature`;
  if (isSignedBy(body, signature, signer)) return { field, holds: true, detail: `signed by ${signer}` };
  // The signature of a wallet key has 65 bytes. A signature of another length can only be a contract's.
  if (signature.length !== 2 + 2 * 65)
    return notChecked(field, `${signer} signed as a contract: only the chain can say`);
  return { field, holds: false, detail: `is not by ${signer}` };
}
