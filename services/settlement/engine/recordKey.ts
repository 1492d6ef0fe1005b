import { recordTypeNamed } from "tallystick-protocol/records/recordTypes";

/** What a key is made from: a record from a payload or from a request. */
type KeyedRecord = { type: unknown; signer: unknown; body: { [key: string]: unknown } };

/**
 * What there is once in a ledger, as its type says (`recordTypes`), else its type, signer and body. A record whose key is taken
 * is the same one again, or contradicts it.
 *
 * @param digest gives the record's `recordDigest`, which is the task id of its entry
 */
export function recordKey({ type, signer, body }: KeyedRecord, digest: () => string): string {
  const once = recordTypeNamed(type)?.once;
  return once === undefined ? `${type} ${signer} ${digest()}` : once({ signer, body });
}
