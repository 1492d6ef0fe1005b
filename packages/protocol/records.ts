/** Signed records: what agents write into a ledger, and how a ledger checks it. */
export { type Attestation, parseAttestation, type TestRun } from "./records/attestation.ts";
export { type AuditActuation, parseAuditActuation } from "./records/auditActuation.ts";
export { type AuditCanary, type Canary, canaryCommitment, parseAuditCanary } from "./records/auditCanary.ts";
export { type AuditHistory, parseAuditHistory } from "./records/auditHistory.ts";
export { type AuditJudge, parseAuditJudge } from "./records/auditJudge.ts";
export { type AuditMode, parseAuditMode } from "./records/auditMode.ts";
export { type Auditor, parseAuditor } from "./records/auditor.ts";
export type { AuditParams } from "./records/auditParams.ts";
export { type AuditReason, type AuditReasonCode, auditReasonCodes } from "./records/auditReasons.ts";
export { auditToken } from "./records/auditToken.ts";
export { type AuditVerdict, parseAuditVerdict } from "./records/auditVerdict.ts";
export { breachId } from "./records/breachId.ts";
export { type Claim, type ClaimStatus, parseClaim } from "./records/claim.ts";
export { type ConsensusBody, type ConsensusType, parseConsensus } from "./records/consensus.ts";
export { checkEndorsedSignature, type Endorsement, parseEndorsement } from "./records/endorsement.ts";
export { isLedgerName, type LedgerName } from "./records/ledgerName.ts";
export {
  auditConsent,
  checkListing,
  type Listing,
  listingPayee,
  listingSchema,
  parseListing,
} from "./records/listing.ts";
export { type Outcome, type Outcomes, parseOutcomes } from "./records/outcomes.ts";
export { defineParams, type Params, paramsSchema, parseParams } from "./records/params.ts";
export { type Pulse, parsePulse } from "./records/pulse.ts";
export { parseRating, type Rating, type RatingSide } from "./records/rating.ts";
export { ratingToken } from "./records/ratingToken.ts";
export { checkReceipt, parseReceipt, type Receipt, receiptSchema } from "./records/receipt.ts";
export {
  type RecordSigner,
  recordDigest,
  recordSigningHash,
  type SignedRecord,
  type Statement,
  signBody,
  signerOf,
  signRecord,
} from "./records/record.ts";
export { parseReview, type Review } from "./records/review.ts";
export { parseSla, type Sla, type SlaGuarantee, type SlaPenalty } from "./records/sla.ts";
export { parseSlaDispute, type SlaDispute } from "./records/slaDispute.ts";
export { parseSlaPayment, type SlaPayment } from "./records/slaPayment.ts";
export { parseSlaRuling, type SlaRuling, slaExcuses } from "./records/slaRuling.ts";
export type { StewardParams } from "./records/stewardParams.ts";
export { parseTelemetry, type Telemetry } from "./records/telemetry.ts";
export { parseUptime, type Uptime } from "./records/uptime.ts";
