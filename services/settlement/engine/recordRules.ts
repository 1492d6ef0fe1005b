import { offerProblem } from "tallystick-capabilities/offerProblem";
import type { Address } from "tallystick-protocol/address";
import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";
import { type InputIssue, InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import { parseClaim } from "tallystick-protocol/records/claim";
import { isConsensusType, parseConsensus } from "tallystick-protocol/records/consensus";
import { checkListing, type Listing } from "tallystick-protocol/records/listing";
import { parseOutcomes } from "tallystick-protocol/records/outcomes";
import { parseParams } from "tallystick-protocol/records/params";
import { parsePulse } from "tallystick-protocol/records/pulse";
import { parseRating } from "tallystick-protocol/records/rating";
import { checkReceipt, completedAtSeconds, type Receipt } from "tallystick-protocol/records/receipt";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { recordTypeNames } from "tallystick-protocol/records/recordTypes";
import { parseReview } from "tallystick-protocol/records/review";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";
import { auditRules, isAuditRecordType } from "./auditRules.ts";
import { type LedgerIndex, offerKey } from "./ledgerIndex.ts";
import { isStewardRecordType, stewardIssues } from "./stewardRules.ts";
import { unknownOfListing, unknownOfReceipt } from "./unknownKeys.ts";

/** What the rules of records need in addition to the record. */
export type RuleContext = {
  /** Unix seconds. */
  now: number;
  devMode: boolean;
  /** The chain of the ledger; undefined if it is not anchored. */
  chainId?: number | undefined;
  index: LedgerIndex;
  /** The account that signs reviews, parameters and pulses; undefined if there is none. */
  operator: Address | undefined;
  /** The attestor of claims; undefined if no claims are settled. */
  claimAttestor: Address | undefined;
  /** The receipt in the ledger under an entry hash; undefined when there is none. */
  receiptOf: (entryHash: string) => Promise<RecordBody | undefined>;
};

/**
 * The age of the oldest receipt that is accepted, in seconds: after one day a receipt can no longer find its
 * payment.
 */
export const RECEIPT_MAX_AGE = 86_400;

/** How far a clock may be ahead of ours, in seconds. */
export const CLOCK_TOLERANCE = 300;

const HOUR = 3_600;

/** Protocol versions whose receipts are accepted (SHP §2). */
const PROTOCOL_VERSION = /^swarmwage\/v0\.[123]$/;

/**
 * Applies schema and rules to a record. Another function checks the signature.
 *
 * @throws InvalidInputError naming every field at fault
 * @throws TallystickError `consensus_refused` (409) for a stake or vote that would change nothing
 */
export async function checkRecord(record: SignedRecord, context: RuleContext): Promise<void> {
  const { type, body } = record;
  if (isConsensusType(type)) {
    parseConsensus(body);
    checkConsensus(record, context);
    return;
  }
  if (isAuditRecordType(type)) {
    const { operator, devMode, now } = context;
    const { issues, mustBe } = auditRules(
      { ...record, type },
      { operator, devMode, latest: now + CLOCK_TOLERANCE },
    );
    refuse(issues);
    if (mustBe !== undefined) requireSigner(record, mustBe.signer, mustBe.who);
    return;
  }
  if (isStewardRecordType(type)) {
    refuse(stewardIssues({ ...record, type }, context.now + CLOCK_TOLERANCE));
    return;
  }
  switch (type) {
    case "listing":
      listingRules(checkListing(record), context, unknownOfListing(body));
      break;
    case "receipt":
      receiptRules(checkReceipt(record), context);
      refuse(unknownOfReceipt(body));
      break;
    case "rating": {
      const { receipt, side } = parseRating(body);
      const hire = await knownReceipt(receipt, context);
      requireSigner(record, side === "buyer" ? hire.buyer : hire.agent_id, `the receipt's ${side}`);
      break;
    }
    case "telemetry": {
      const hire = await knownReceipt(parseTelemetry(body).receipt, context);
      requireSigner(record, hire.buyer, "the receipt's buyer");
      break;
    }
    case "claim":
      parseClaim(body);
      requireSigner(record, context.claimAttestor, "the claim attestor of this service");
      break;
    case "review":
      parseReview(body);
      requireSigner(record, context.operator, "the operator of this service");
      break;
    case "params":
      parseParams(body);
      requireSigner(record, context.operator, "the operator of this service");
      break;
    case "pulse":
      parsePulse(body);
      requireSigner(record, context.operator, "the operator of this service");
      break;
    case "outcomes": {
      const { hour } = parseOutcomes(body);
      requireSigner(record, context.operator, "the operator of this service");
      if ((hour + 1) * HOUR > context.now + CLOCK_TOLERANCE)
        refuse([{ field: "body.hour", message: "is not over yet; it is unix seconds / 3600" }]);
      break;
    }
    default:
      refuse([{ field: "type", message: `must be one of ${recordTypeNames.join(", ")}` }]);
  }
}

function refuse(issues: InputIssue[], code?: string, hint?: string): void {
  if (issues.length === 0) return;
  throw new InvalidInputError({
    issues,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
  });
}

function requireSigner({ signer }: SignedRecord, wanted: unknown, who: string): void {
  if (signer === wanted) return;
  refuse([
    { field: "signer", message: `must be ${who}${wanted === undefined ? "; it has none" : `, ${wanted}`}` },
  ]);
}

async function knownReceipt(entryHash: string, { receiptOf }: RuleContext): Promise<RecordBody> {
  const receipt = await receiptOf(entryHash);
  if (receipt === undefined) {
    const message = "is not the entry hash of a receipt in this ledger";
    refuse([{ field: "body.receipt", message }], "unknown_receipt");
  }
  return receipt as RecordBody;
}

const CONSENSUS_REFUSALS = {
  task_final: "The task is final: no further stake or vote on it counts.",
  staked_already: "This proposal is staked already; verify or contest it.",
  not_staked: "Nobody has staked this proposal.",
  own_proposal: "Whoever staked a proposal has no vote on it.",
  voted_already: "This signer has voted on this proposal.",
  stake_closed: "This stake is closed, because it did not become final within 30 days.",
};

function checkConsensus({ type, body, signer }: SignedRecord, { index, now: time }: RuleContext): void {
  if (!isConsensusType(type)) return;
  const [taskId, proposal] = [String(body.task_id), String(body.proposal)];
  const refusal = index.consensus.refusal({ taskId, type, proposal, signer, time });
  if (refusal === undefined) return;
  throw new TallystickError({
    code: "consensus_refused",
    message: CONSENSUS_REFUSALS[refusal],
    field: "body.proposal",
    hint: "GET /v1/status/{task_id} shows the proposals of a task and their votes.",
    details: { refusal },
  });
}

function listingRules(
  listing: Listing,
  { now, devMode, index }: RuleContext,
  unknown: readonly InputIssue[],
): void {
  const { issues, code, hint } = offerProblem(listing, now, "body.");
  issues.push(...unknown);
  // A seller may withdraw an offer even if its address is no longer valid.
  const endpoint = devMode || listing.retired ? undefined : addressProblem(listing.endpoint);
  if (endpoint) issues.push({ field: "body.endpoint", message: endpoint });
  const issuedAt = listing.issued_at ?? 0;
  if (issuedAt > now + CLOCK_TOLERANCE) {
    issues.push({ field: "body.issued_at", message: "is in the future; it is unix seconds" });
  }
  const newest = index.newestListing(offerKey(listing)) ?? 0;
  if (issuedAt < newest) {
    const message = `must be at least ${newest}, as in this agent's newest listing of the same capability and payment mode`;
    issues.push({ field: "body.issued_at", message });
  }
  refuse(issues, code, hint);
}

/**
 * A receipt may name any capability, because the payment is a fact. Without the receipt, a seller could not
 * prove work under a name that this service does not know. The taxonomy is only binding for offers.
 */
function receiptRules(receipt: Receipt, { now, chainId }: RuleContext): void {
  // A receipt takes the place of its hire: no other receipt with this hire id is accepted. A buyer may use one hire id
  // on two chains, so a receipt of the other chain must not take the place here.
  if (chainId !== undefined && chainIdOfNetwork(receipt.network) !== chainId) {
    const message = `must be the chain of this ledger, eip155:${chainId}`;
    refuse(
      [{ field: "body.network", message }],
      "other_network",
      "Send it to the settlement service of that chain.",
    );
  }
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
