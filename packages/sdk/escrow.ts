/** The escrow: what its parties sign, every verb of the contract, relays, and a keeper. */
export { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
export { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
export { base, baseSepolia, type PaymentNetwork } from "./chain/paymentNetwork.ts";
export {
  createTransactionSender,
  type TransactionSender,
  type TransactionSenderParameters,
} from "./chain/transactionSender.ts";
export { ChainError, RelayRefusedError } from "./errors.ts";
export { createEscrowCalls, type EscrowCalls, encodeEscrowCall } from "./escrow/escrowCalls.ts";
export { type EscrowRelay, firstRelay, walletRelay } from "./escrow/escrowRelay.ts";
export { ESCROW_SCHEME, VERIFICATION_WINDOW_MS } from "./escrow/escrowScheme.ts";
export { type HttpRelayParameters, httpRelay } from "./escrow/httpRelay.ts";
export { createKeeper, type Keeper, type KeeperParameters, type KeeperRound } from "./escrow/keeper.ts";
export { type KeeperAppParameters, keeperApp } from "./escrow/keeperApp.ts";
export { type EscrowState, readEscrowState, type SettledEscrowState } from "./escrow/readEscrowState.ts";
export {
  createEscrowSigner,
  type DepositAuthorization,
  type DepositPermit,
  type EscrowSigner,
} from "./escrow/signEscrow.ts";
