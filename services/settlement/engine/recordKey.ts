import { recordTypeNamed } from "tallystick-protocol/records/recordTypes";
import { lookupText } from "./lookupText.ts";

/** The parts of a record that its key is made from; the record comes from a payload or a request. */
type KeyedRecord = { type: unknown; signer: unknown; body: { [key: string]: unknown } };

/**
 * The key of a record, which is unique in a ledger. The type of the record may define the key (`recordTypes`).
 * Otherwise the key is made of type, signer and body. A second record with the same key is the same record again, or
 * contradicts the first. The record need not be valid.
 *
 * @param digest gives the record's `recordDigest`, which is the task id of its entry
 */
export function recordKey({ type, signer, body }: KeyedRecord, digest: () => string): string {
  const once = recordTypeNamed(type)?.once;
  const by = lookupText(signer);
  if (once === undefined) return `${lookupText(type)} ${by} ${digest()}`;
  const texts = Object.entries(body).map(([name, value]) => [name, lookupText(value)]);
  return once({ signer: by, body: Object.fromEntries(texts) });
}
