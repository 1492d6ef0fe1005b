import type { Verification } from "tallystick-capabilities/verification";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LocalAccount } from "viem";
import type { KeptDisclosures } from "../audits/keptDisclosures.ts";
import type { Budget } from "../budget/budget.ts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import type { EscrowOfHire, MoneyState } from "../errors.ts";
import type { Fetch } from "../requestService.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { PaymentPayload, PaymentRequired } from "../x402/paymentHeaders.ts";
import type { AvoidedSellers } from "./avoidedSellers.ts";
import type { Background } from "./background.ts";
import type { HireResult } from "./hireResult.ts";
import type { Agreed } from "./judgeTerms.ts";
import type { KeptHires } from "./keptHires.ts";
import type { ListingSources } from "./listingSources.ts";
import type { Reports } from "./reports.ts";
import type { SearchClient } from "./searchClient.ts";
import type { Verify } from "./verifyResult.ts";

/** A hire with an idempotency key that runs in this process. */
export type KeyedHire = { asked: string; hire: Promise<HireResult> };

/** What all hires of one buyer share. */
export type BuyerContext = {
  account: LocalAccount;
  address: Address;
  network: PaymentNetwork;
  baseUrl: string;
  search: SearchClient & Required<Pick<SearchClient, "sla">>;
  /** Where the signed form of a listing comes from. */
  listings: ListingSources;
  budget: Budget | undefined;
  /** Hires that are paid for and not concluded. A crash forgets none of them. */
  journal: KeyValueStore;
  /** Returns the ledger that ratings and telemetry are signed for. */
  ledger: () => Promise<LedgerName>;
  /** The jobs of hires that run in this process. A `resume` leaves them alone. */
  underWay: Set<string>;
  /** The callers' own checks, by job, of hires whose money is open. */
  verifiers: Map<string, Verify>;
  /** The stored hires with an idempotency key. */
  kept: KeptHires;
  /** When the journal began. Records of hires from before that time may be lost. */
  journalBegan: () => Promise<number>;
  /** The hires with an idempotency key that run in this process, by key. */
  keyed: Map<string, KeyedHire>;
  /** The work that continues after a hire has its result. */
  background: Background;
  /** The reports that wait to be sent to the ledger. */
  reports: Reports;
  /** The work of hires that may be audited, in case their seller does not show it (SHP §8.3.1). */
  disclosures: KeptDisclosures;
  /** The sellers that failed recently. */
  avoided: AvoidedSellers;
  /** Whether the chain shows a direct payment with this nonce; absent without a client of the chain. */
  isPaid?: ((nonce: Hex) => Promise<boolean>) | undefined;
  /** Throws if the client is of another chain; absent without a client of the chain. */
  refuseOtherChain?: (() => Promise<void>) | undefined;
  modeOf: (paymentMode: string) => BuyerMode;
  allowsEscrow: (paymentMode: string) => boolean;
  /** Reaches the node. */
  fetch: Fetch;
  /** Reaches sellers, which are strangers. */
  sellerFetch: Fetch;
  devMode: boolean;
  /** Milliseconds since 1970. */
  now: () => number;
  random: () => Hex;
};

/** A payment that its buyer signed. `amount` is atomic units, `validUntil` unix seconds. */
export type SignedPayment = {
  payload: PaymentPayload;
  amount: bigint;
  validUntil: number;
};

/**
 * Where the money of a hire is, and which transaction put it there. `book` says what the budget does with the amount:
 * counts it as spent, gives it back, or keeps it reserved while the money is open.
 */
export type Conclusion = { money: MoneyState | "released"; tx?: Hex; book: "spend" | "giveBack" | "open" };

/** How a buyer pays: directly, or by one escrow. */
export type BuyerMode = {
  /**
   * Signs the payment that the seller asks for, if it matches `agreed`. Calls `reserve` before it signs anything,
   * so that the budget can refuse.
   *
   * @throws PaymentRefusedError
   */
  pay: (
    required: PaymentRequired,
    agreed: Agreed,
    hireId: Hex,
    reserve: (amount: bigint) => Promise<void>,
  ) => Promise<SignedPayment>;
  /** The escrow that a payment goes into; absent for direct payment. */
  escrowOf?: (payment: SignedPayment) => EscrowOfHire;
  /** Where the money is once the payment was sent. */
  whenSent: MoneyState;
  /** Tries to get back the money of a hire that failed after its payment was sent. Returns where the money is. */
  abandon: (payment: SignedPayment) => Promise<MoneyState>;
  /**
   * How the payment of an unfinished hire ended: it expired unused, it came back, or the seller has it. False if it
   * has not ended yet. Sends nothing.
   */
  isOver: (payment: SignedPayment) => Promise<false | (Conclusion & { money: MoneyState })>;
  /**
   * Acts on the result of the verification: in escrow mode it releases or refunds. Returns what the chain then
   * shows.
   */
  conclude: (payment: SignedPayment, verification: Verification) => Promise<Conclusion>;
};
