/**
 * The parts that the other entry points use too: hex, addresses, money, errors, JSON from strangers, and the ids and
 * hashes of a hire.
 */
export {
  type SettlementTokenClaims,
  type TokenVerdict,
  type VerifySettlementTokenParameters,
  verifySettlementToken,
} from "./actions/settlementToken.ts";
export { type Address, addressSchema, ZERO_ADDRESS } from "./address.ts";
export { atomicSchema, formatUsdc, parseUsdc, priceUsdcSchema, USDC_DECIMALS } from "./amount.ts";
export { isCapability, isCustomCapability } from "./capability.ts";
export { capabilitySchema } from "./capabilitySchema.ts";
export { type InputIssue, InvalidInputError, TallystickError } from "./errors.ts";
export { bytesEqual, fromHex, type Hex, isHex, toBareHex, toHex, ZERO_HASH } from "./hex.ts";
export { type HireAnswer, hireAnswerSchema, type ReceiptSummary } from "./hire/hireAnswer.ts";
export { hireId, jobId, receiptId } from "./hire/hireIds.ts";
export {
  type HireRequest,
  type HireTerms,
  readHireRequest,
  signHireRequest,
} from "./hire/hireRequest.ts";
export { jsonHash, paramsHash } from "./hire/paramsHash.ts";
export { PROTOCOL } from "./hire/protocolVersion.ts";
export { ForeignJsonError, type JsonLimits, readForeignJson } from "./json/foreignJson.ts";
export { canonicalBody, type RecordBody, type RecordJson } from "./json/recordBody.ts";
export { recoverSigner } from "./signatures/recoverSigner.ts";
export {
  type TrustReportExpectation,
  type TrustReportVerdict,
  verifyTrustReport,
} from "./trustReport/verifyTrustReport.ts";
