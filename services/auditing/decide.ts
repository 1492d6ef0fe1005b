import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type AuditActuation, parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import { readSettledEntry } from "tallystick-sdk/readSettledEntry";
import { type Fetch, requestService } from "tallystick-sdk/requestService";
import type { LocalAccount } from "viem";

/**
 * Sends the decision of an operator's people about a challenged hire to the ledger. The audit of such a hire failed,
 * and the hire waits for this decision. The ledger accepts one decision for each hire (SHP §8.3.4.2).
 *
 * @returns the hash of the ledger's entry
 * @throws InvalidInputError naming the field; ServiceError when the ledger refuses the decision, for example because it
 * has another decision for this hire, or when the ledger does not answer as it should
 */
export async function decide(parameters: {
  baseUrl: string;
  ledger: LedgerName;
  account: LocalAccount;
  decision: AuditActuation;
  fetch?: Fetch | undefined;
}): Promise<string> {
  const { baseUrl, ledger, account, decision, fetch } = parameters;
  const body = decision as RecordBody;
  const record = await signRecord({ type: "audit_actuation", ledger, body, account });
  // Checks the body before it is sent, by the same rules as settlement and the derivation.
  parseAuditActuation(record.body);
  const { text } = await requestService({ baseUrl, path: "/v1/records", body: record, fetch });
  return readSettledEntry(text).hash;
}
