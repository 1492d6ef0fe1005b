import type { Verification } from "tallystick-capabilities/verification";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { HireAnswer } from "tallystick-protocol/hire/hireAnswer";
import type { Listing } from "tallystick-protocol/records/listing";
import type { PaymentPayload, PaymentRequirements } from "../x402/paymentHeaders.ts";

/** An offer as its seller signed it. */
export type Offer = { listing: Listing; price: bigint };

/**
 * The progress of a hire. A job is stored before each step. So after a crash, the next process knows what has
 * happened and what may have happened:
 *
 * - `accepted`: the buyer's payment is valid and reserved; no money has moved
 * - `secured`: the money is held (escrow); in direct mode the same as accepted
 * - `worked`: the result is there
 * - `collecting`: the payment was asked for; it may have happened
 * - `collected`: the payment happened, in transaction `tx`
 * - `completed`, `failed`: the end
 */
export type JobStage =
  | "accepted"
  | "secured"
  | "worked"
  | "collecting"
  | "collected"
  | "completed"
  | "failed";

/** One hire at its seller. Times are milliseconds since 1970, the price atomic units. */
export type Job = {
  id: string;
  hireId: Hex;
  /** The protocol version of the buyer's request, which the answer uses too. */
  protocol?: string;
  buyer: Address;
  capability: string;
  mode: string;
  price: string;
  free: boolean;
  params: { [key: string]: unknown };
  /**
   * The hire as its buyer signed it, as JSON text. It is kept for hires that may be audited, until they are
   * completed.
   */
  request?: string | undefined;
  /**
   * The listing that its buyer hired by, until the job is completed. The seller may offer something else meanwhile. Jobs
   * of earlier versions have none.
   */
  listing?: Listing | undefined;
  callbackUrl?: string | undefined;
  acceptedAt: number;
  /** The time until which its buyer waits. Work that is not finished by then is not charged. */
  dueAt: number;
  payment?: { payload: PaymentPayload; requirements: PaymentRequirements } | undefined;
  stage: JobStage;
  result?: unknown;
  verification?: Verification;
  /** The `jsonHash` of the params and of the result, as in the receipt. */
  hashes?: { params: Hex; result: Hex };
  /** The transaction of the payment (direct) or of the deposit (escrow). */
  tx?: Hex;
  escrowId?: Hex;
  completedAt?: number;
  /** The mark of delivery did not get through at first. So each start of the seller calls `collect` again. */
  isMarkDue?: boolean;
  answer?: HireAnswer;
  failure?: { code: string; message: string };
  /** When the params, the result and the payment of this job were deleted. */
  forgottenAt?: number;
};

/** How a seller is paid: in `direct` mode, or by one escrow. */
export type SettlementMode = {
  /**
   * What the buyer has to sign for.
   *
   * @throws ChainError `wrong_chain` if the payment would be looked up on another chain
   */
  requirements: (offer: Offer) => Promise<PaymentRequirements>;
  /**
   * Checks whether a payment is valid. Moves nothing.
   *
   * @returns who pays, and a key that is the same for every use of this payment
   * @throws PaymentInvalidError
   */
  check: (terms: PaymentTerms) => Promise<{ payer: Address; key: string }>;
  /** Secures the money before the work. May be called again after a crash. */
  secure: (job: Job) => Promise<Partial<Job>>;
  /**
   * Takes the money after the work, or marks it as earned. May be called again after a crash.
   *
   * @param how `isFirst`: whether the money of this job was certainly never asked for before
   * @throws PaymentInvalidError only when the money is not taken and will never be: then the job has failed. After any
   * other error the job is continued later.
   */
  collect: (job: Job, how: { isFirst: boolean }) => Promise<Partial<Job>>;
  /** Gives up the money, because the work will not be done. An escrow sends it back. */
  giveUp: (job: Job) => Promise<void>;
};

/** What a mode needs to check a payment. */
export type PaymentTerms = {
  payload: PaymentPayload;
  requirements: PaymentRequirements;
  offer: Offer;
  buyer: Address;
  hireId: Hex | undefined;
};
