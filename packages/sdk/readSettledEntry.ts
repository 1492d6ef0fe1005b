import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readServiceAnswer } from "./readServiceAnswer.ts";
import { settledEntryForm } from "./settledEntryForm.ts";

/**
 * Reads the answer of a service that settled something, or that gives the head of its ledger: the entry hash and
 * all other fields.
 *
 * @throws ServiceError `unreadable_answer` for an answer without an entry hash
 */
export function readSettledEntry(text: string): { hash: string } & { [field: string]: unknown } {
  return readServiceAnswer(settledEntryForm, tryForeignJson(text));
}
