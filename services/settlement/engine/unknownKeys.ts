import type { InputIssue } from "tallystick-protocol/errors";
import { canonicalBody, type RecordBody, type RecordJson } from "tallystick-protocol/json/recordBody";
import { listingSchema } from "tallystick-protocol/records/listing";
import { receiptSchema } from "tallystick-protocol/records/receipt";

/** The most bytes (UTF-8, canonical) of all keys of a listing or receipt that its schema does not name. */
export const MAX_UNKNOWN_BYTES = 4_096;

/** The most checks of a receipt by name, and most characters of a name: the same as for checks in a list. */
const MAX_CHECKS = 256;
const MAX_CHECK_NAME = 128;

/** A field without a fixed form in the schema of listings counts as unknown. */
const LISTING_KEYS = new Set(Object.keys(listingSchema.shape).filter((key) => key !== "audit"));
const RECEIPT_KEYS = new Set(Object.keys(receiptSchema.shape));
const VERIFICATION_KEYS = new Set(["all_passed", "checks"]);
const CHECK_KEYS = new Set(["name", "passed"]);

type Unknown = { field: string; bytes: number };

/** A fault if the unknown keys of a listing have too many bytes together. Otherwise the list is empty. */
export function unknownOfListing(body: RecordBody): InputIssue[] {
  return tooLong(unknownIn(body, LISTING_KEYS, "body"));
}

/**
 * As {@link unknownOfListing}, for a receipt, including the unknown keys and the names of checks in its `verification`.
 */
export function unknownOfReceipt(body: RecordBody): InputIssue[] {
  const verification = asObject(body.verification);
  const checks = verification.checks ?? null;
  const unknown = [
    ...unknownIn(body, RECEIPT_KEYS, "body"),
    ...unknownIn(verification, VERIFICATION_KEYS, "body.verification"),
  ];
  if (!Array.isArray(checks)) return [...tooLong(unknown), ...namedChecks(Object.keys(asObject(checks)))];
  for (const [at, check] of checks.entries())
    unknown.push(...unknownIn(asObject(check), CHECK_KEYS, `body.verification.checks.${at}`));
  return tooLong(unknown);
}

function namedChecks(names: string[]): InputIssue[] {
  const field = "body.verification.checks";
  if (names.length > MAX_CHECKS) return [{ field, message: `must have at most ${MAX_CHECKS} checks` }];
  return names.some((name) => name.length > MAX_CHECK_NAME)
    ? [{ field, message: `must have names of at most ${MAX_CHECK_NAME} characters` }]
    : [];
}

function asObject(value: RecordJson | undefined): RecordBody {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function unknownIn(object: RecordBody, known: ReadonlySet<string>, path: string): Unknown[] {
  return Object.keys(object)
    .filter((key) => !known.has(key))
    .map((key) => ({
      field: `${path}.${key.slice(0, 64)}`,
      // Without the braces.
      bytes: Buffer.byteLength(canonicalBody({ [key]: object[key] as RecordJson })) - 2,
    }));
}

function tooLong(unknown: Unknown[]): InputIssue[] {
  const bytes = unknown.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes <= MAX_UNKNOWN_BYTES) return [];
  const longest = unknown.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const all = unknown.length === 1 ? "has" : `and ${unknown.length - 1} more have`;
  const message = `is no field of the schema; such keys may have ${MAX_UNKNOWN_BYTES} bytes in all, and this one ${all} ${bytes}`;
  return [{ field: longest.field, message }];
}
