import type { Address } from "../protocol/address.ts";
import { TallystickError, type TallystickErrorParameters } from "../protocol/errors.ts";
import type { Hex } from "../protocol/hex.ts";

/**
 * Where the buyer's money is when a hire fails: `none` moved or can be moved; `authorized`: the seller holds a signature
 * and may still use it until it expires; `paid` to the seller; `held` by the escrow and back by itself after the
 * deadline; `refunded`.
 */
export type MoneyState = "none" | "authorized" | "paid" | "held" | "refunded";

/**
 * The escrow that the payment of a hire goes into: the contract and its id of the hire. From `deadline` on, in unix
 * seconds, what it still holds goes back to the buyer, on anybody's call.
 */
export type EscrowOfHire = { contract: Address; escrowId: Hex; deadline: number };

/** Nobody sells this within the limits. Nothing was asked of anybody. Codes: `no_seller`, `no_recovery`. */
export class NoSellerError extends TallystickError {}

/** What there is is only sold by escrows that the buyer has not put on its list. */
export function noRecovery(message: string): NoSellerError {
  return new NoSellerError({
    code: "no_recovery",
    message,
    hint: "Check the provider's contract, audit and guardians, then add it to `escrows` of createBuyer, or to TALLYSTICK_ESCROWS of an MCP server.",
  });
}

/** What the seller asks for is not what was agreed. Nothing was signed. The code says what: `overcharged`, … */
export class PaymentRefusedError extends TallystickError {
  readonly seller: Address;

  constructor(parameters: TallystickErrorParameters & { seller: Address }) {
    super(parameters);
    this.seller = parameters.seller;
  }
}

/** The budget does not allow it. Nothing was signed. Codes: `budget_exceeded`, `budget_token_refused`. */
export class BudgetError extends TallystickError {}

/**
 * The hire failed with the seller. `money` says where the buyer's money is. Codes: `seller_unreachable`,
 * `seller_timeout`, `seller_refused`, `garbage_answer`, `settlement_failed`, …
 */
export class HireFailedError extends TallystickError {
  readonly seller: Address;
  readonly money: MoneyState;
  /** With these the hire can be looked up, and what it became. */
  readonly hireId: Hex;
  readonly jobId: string;
  /** In escrow mode, once the payment was signed. */
  readonly escrow?: EscrowOfHire;

  constructor(
    parameters: TallystickErrorParameters & {
      seller: Address;
      money: MoneyState;
      hireId: Hex;
      jobId: string;
      escrow?: EscrowOfHire | undefined;
    },
  ) {
    super(parameters);
    this.seller = parameters.seller;
    this.money = parameters.money;
    this.hireId = parameters.hireId;
    this.jobId = parameters.jobId;
    if (parameters.escrow !== undefined) this.escrow = parameters.escrow;
  }
}

/** A transaction was not carried out. `reason` is the contract's error name when it gave one. */
export class ChainError extends TallystickError {
  readonly reason?: string;

  constructor(parameters: TallystickErrorParameters & { reason?: string | undefined }) {
    super(parameters);
    if (parameters.reason !== undefined) this.reason = parameters.reason;
  }
}
