/** For being hired: a seller, its ways to be paid, and the types of its handlers. */
export type {
  CapabilityInput,
  CapabilityOutput,
  CapabilityTypes,
} from "tallystick-capabilities/capabilityTypes";
export { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
export { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
export { base, baseSepolia, type PaymentNetwork } from "./chain/paymentNetwork.ts";
export {
  createTransactionSender,
  type TransactionSender,
  type TransactionSenderParameters,
} from "./chain/transactionSender.ts";
export {
  type Answer,
  type ClarificationDesk,
  type CreateClarificationParameters,
  createClarification,
  type Offered,
  type UntrustedText,
} from "./clarify/createClarification.ts";
export { type CreateSellerParameters, createSeller, type Seller } from "./createSeller.ts";
export { createPublicFetch, type PublicFetchParameters } from "./net/publicFetch.ts";
export { type Fetch, ServiceError } from "./requestService.ts";
export { adoptStore } from "./seller/adoptStore.ts";
export type { CustomSchemas } from "./seller/capabilityRules.ts";
export { type EscrowModeParameters, escrowMode } from "./seller/escrowMode.ts";
export { type FindPayment, type FindPaymentOptions, findPaymentOnChain } from "./seller/findPayment.ts";
export type { HasHired } from "./seller/freeCalls.ts";
export type { Handler, HandlerContext, Handlers } from "./seller/handlers.ts";
export { hiredBefore } from "./seller/hiredBefore.ts";
export type { RedeemQuote } from "./seller/intake.ts";
export type { SettlementMode } from "./seller/job.ts";
export type { OfferTerms } from "./seller/offers.ts";
export { HireRefusedError, PaymentInvalidError } from "./seller/sellerErrors.ts";
export { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";
export { createLocalFacilitator } from "./x402/localFacilitator.ts";
