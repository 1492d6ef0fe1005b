import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readSettledEntry } from "./readSettledEntry.ts";

/**
 * Checks that a service took a record: the answer must have an entry hash, or say that the service is a sandbox. A
 * page that a proxy answers does neither.
 *
 * @throws ServiceError `unreadable_answer`
 */
export function expectSettled(text: string): void {
  if (Object(tryForeignJson(text)).status !== "VALIDATED") readSettledEntry(text);
}
