/** For hiring: a buyer, its budgets, its answers and its errors. */
export type {
  CapabilityInput,
  CapabilityOutput,
  CapabilityTypes,
} from "tallystick-capabilities/capabilityTypes";
export type { Verification } from "tallystick-capabilities/verification";
export { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
export { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
export { type Budget, everyBudget, memoryBudget } from "./budget/budget.ts";
export {
  openPostgresBudget,
  type PostgresBudgetParameters,
  type PostgresClient,
} from "./budget/postgresBudget.ts";
export { type StoreBudgetParameters, storeBudget } from "./budget/storeBudget.ts";
export { openTokenBudget, type TokenBudgetParameters } from "./budget/tokenBudget.ts";
export type { AllowedEscrow } from "./buyer/escrowPayment.ts";
export type { HireResult } from "./buyer/hireResult.ts";
export type { HireStage } from "./buyer/hiring.ts";
export type { KeptHire } from "./buyer/keptHires.ts";
export type { RatedOnChain, RateErc8004 } from "./buyer/rateOnChain.ts";
export type { RateParameters } from "./buyer/report.ts";
export type { ResumedHire } from "./buyer/resumeHires.ts";
export type { FoundAgent, SearchClient } from "./buyer/searchClient.ts";
export type { Verify } from "./buyer/verifyResult.ts";
export { base, baseSepolia, type PaymentNetwork } from "./chain/paymentNetwork.ts";
export { acceptOffer, type ClarifyParameters, clarify } from "./clarify/clarify.ts";
export { type Buyer, type CreateBuyerParameters, createBuyer } from "./createBuyer.ts";
export { DeadlineError } from "./deadline.ts";
export {
  BudgetError,
  ChainError,
  type EscrowOfHire,
  HireFailedError,
  ListingError,
  type MoneyState,
  NoSellerError,
  PaymentRefusedError,
  RelayRefusedError,
  SellerRefusedError,
  SellerSchemaError,
} from "./errors.ts";
export type { HireParameters } from "./hireParameters.ts";
export { createPublicFetch, type PublicFetchParameters } from "./net/publicFetch.ts";
export { readNotice } from "./notices/readNotice.ts";
export { type SubscribeToNoticesParameters, subscribeToNotices } from "./notices/subscribeToNotices.ts";
export { type ConfirmedProof, confirmProof } from "./proof/confirmProof.ts";
export { type Callback, readCallback } from "./readCallback.ts";
export { type Fetch, ServiceError } from "./requestService.ts";
export { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";
