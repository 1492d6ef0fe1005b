import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { unreadableAnswer } from "./unreadableAnswer.ts";

/**
 * Reads the answer of a service that settled something, or that gives the head of its ledger: the entry hash and
 * all other fields.
 *
 * @throws ServiceError `unreadable_answer` for an answer without an entry hash
 */
export function readSettledEntry(text: string): { hash: string } & { [field: string]: unknown } {
  const answer = Object(tryForeignJson(text));
  if (!isLedgerHash(answer.hash)) throw unreadableAnswer();
  return answer;
}
