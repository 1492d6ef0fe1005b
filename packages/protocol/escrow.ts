/** What the parties of an escrowed hire sign: EIP-712, EIP-3009 and EIP-2612, and the published fees. */
export {
  type Authorization,
  authorizationFields,
  receiveWithAuthorizationTypedData,
  type TokenDomain,
  tokenDomain,
  transferWithAuthorizationTypedData,
} from "./escrow/authorization.ts";
export { escrowFee, type FeeBand, feeScheduleSchema, PUBLISHED_FEES } from "./escrow/feeSchedule.ts";
export {
  type EscrowDeployment,
  escrowDomain,
  escrowId,
  type Hire,
  hireTypedData,
  hireTypes,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
  splitTypedData,
} from "./escrow/hire.ts";
export { type HireJson, hireJsonSchema, readHireJson, toHireJson } from "./escrow/hireJson.ts";
export { type Permit, permitTypedData } from "./escrow/permit.ts";
