import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readSettledEntry } from "./readSettledEntry.ts";

/**
 * Holds a service to having taken a record: its answer has an entry hash, or says that it is a sandbox. A proxy's own page does
 * neither.
 *
 * @throws ServiceError `unreadable_answer`
 */
export function expectSettled(text: string): void {
  if (Object(tryForeignJson(text)).status !== "VALIDATED") readSettledEntry(text);
}
