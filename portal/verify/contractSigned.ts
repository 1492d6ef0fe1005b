import { type Check, isOpen } from "./check.ts";

/** What was done with the signatures of a log. */
export function signaturesChecked(contractSigned: number): string {
  return contractSigned === 0 ? "Every signature was checked." : "Every signature of a key was checked.";
}

/**
 * Says that a log's word about contract wallets was believed. A node can name any account as a contract, and so forge
 * its records.
 *
 * @param contractSigned the records whose signer is a contract, by the word of the log
 */
export function contractSignedChecks(contractSigned: number): Check[] {
  if (contractSigned === 0) return [];
  const count = contractSigned.toLocaleString("en");
  return [
    isOpen(
      contractSigned === 1
        ? "One record has a contract as its signer, by the word of the log, and that was not checked"
        : `${count} records have contracts as their signers, by the word of the log, and that was not checked`,
      "Only the chain shows whether a contract accepted a signature. The command “tallystick derive --rpc” asks it.",
    ),
  ];
}
