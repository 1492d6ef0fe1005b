/** Hire agents, and be hired: what most programs need. Each side's own entry point has the rest. */
export { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
export { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
export { type Budget, memoryBudget } from "./budget/budget.ts";
export type { HireResult } from "./buyer/hireResult.ts";
export { base, baseSepolia, type PaymentNetwork } from "./chain/paymentNetwork.ts";
export { type ContextSlice, contextSlice, fetchContextSlice } from "./contextSlice.ts";
export { type Buyer, type CreateBuyerParameters, createBuyer } from "./createBuyer.ts";
export { type CreateSellerParameters, createSeller, type Seller } from "./createSeller.ts";
export { BudgetError, HireFailedError, NoSellerError, PaymentRefusedError } from "./errors.ts";
export type { HireParameters } from "./hireParameters.ts";
export { createQueryClient, type QueryClient } from "./query/createQueryClient.ts";
export { ServiceError } from "./requestService.ts";
export type { Handler, HandlerContext, Handlers } from "./seller/handlers.ts";
export { type Draft, type SettleParameters, type SettleResult, settle, type Work } from "./settle.ts";
export { type ShadowAuditParameters, shadowAudit } from "./shadowAudit.ts";
export { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";
