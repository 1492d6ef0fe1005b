import { type InputIssue, InvalidInputError } from "../../protocol/errors.ts";
import { checkListing, type Listing } from "../../protocol/records/listing.ts";
import { checkReceipt, completedAtSeconds, type Receipt } from "../../protocol/records/receipt.ts";
import type { SignedRecord } from "../../protocol/records/record.ts";
import { endpointProblem } from "./endpointPolicy.ts";
import { type LedgerIndex, offerKey } from "./ledgerIndex.ts";

/** What the rules of records look at besides the record. `now` in unix seconds. */
export type RuleContext = { now: number; devMode: boolean; index: LedgerIndex };

/** The record types this engine settles, and their rules. */
export const RECORD_TYPES = ["listing", "receipt"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Oldest receipt that is taken, in seconds: reconciliation gives up after a day. */
export const RECEIPT_MAX_AGE = 86_400;

/** How far a clock may be ahead of ours, in seconds. */
export const CLOCK_TOLERANCE = 300;

/** Protocol versions whose receipts are taken (SHP §2). */
const PROTOCOL_VERSION = /^swarmwage\/v0\.[123]$/;

/**
 * Applies schema and rules to a record; the signature is checked elsewhere.
 *
 * @throws InvalidInputError naming every field at fault
 */
export function checkRecord(record: SignedRecord, context: RuleContext): void {
  switch (record.type) {
    case "listing":
      refuse(listingRules(checkListing(record), context));
      break;
    case "receipt":
      receiptRules(checkReceipt(record), context);
      break;
    default:
      refuse([{ field: "type", message: `must be one of ${RECORD_TYPES.join(", ")}` }]);
  }
}

function refuse(issues: InputIssue[], code?: string): void {
  if (issues.length > 0) throw new InvalidInputError(code === undefined ? { issues } : { issues, code });
}

function listingRules(listing: Listing, { now, devMode, index }: RuleContext): InputIssue[] {
  const issues: InputIssue[] = [];
  // Whoever takes an offer down may do so whatever has become of its address.
  const endpoint = devMode || listing.retired ? undefined : endpointProblem(listing.endpoint);
  if (endpoint) issues.push({ field: "body.endpoint", message: endpoint });
  const issuedAt = listing.issued_at ?? 0;
  if (issuedAt > now + CLOCK_TOLERANCE) {
    issues.push({ field: "body.issued_at", message: "is in the future; it is unix seconds" });
  }
  const newest = index.newestListing(offerKey(listing)) ?? 0;
  if (issuedAt < newest) {
    const message = `must be at least ${newest}, that of this agent's listing of the same capability and payment mode`;
    issues.push({ field: "body.issued_at", message });
  }
  return issues;
}

function receiptRules(receipt: Receipt, { now }: RuleContext): void {
  if (!PROTOCOL_VERSION.test(receipt.protocol_version)) {
    const message = "must be swarmwage/v0.1, swarmwage/v0.2 or swarmwage/v0.3";
    refuse([{ field: "body.protocol_version", message }], "unsupported_protocol");
  }
  const completedAt = completedAtSeconds(receipt);
  if (completedAt < now - RECEIPT_MAX_AGE) {
    refuse([{ field: "body.completed_at", message: "is more than 24 hours ago" }], "receipt_too_old");
  }
  if (completedAt > now + CLOCK_TOLERANCE) {
    refuse([{ field: "body.completed_at", message: "is more than 5 minutes in the future" }]);
  }
}
