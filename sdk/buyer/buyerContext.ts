import type { LocalAccount } from "viem";
import type { Address } from "../../protocol/address.ts";
import type { Verification } from "../../protocol/capabilities/verification.ts";
import type { Hex } from "../../protocol/hex.ts";
import type { Budget } from "../budget/budget.ts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import type { EscrowOfHire, MoneyState } from "../errors.ts";
import type { Fetch } from "../requestService.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { PaymentPayload, PaymentRequired } from "../x402/paymentHeaders.ts";
import type { Agreed } from "./judgeTerms.ts";
import type { SearchClient } from "./searchClient.ts";

/** What every hire of one buyer has in common. */
export type BuyerContext = {
  account: LocalAccount;
  address: Address;
  network: PaymentNetwork;
  baseUrl: string;
  search: SearchClient;
  budget: Budget | undefined;
  /** Hires that are paid for and not concluded, so that a crash forgets none. */
  journal: KeyValueStore;
  /** The jobs of hires that are under way in this process: they are not to be taken up by a `resume`. */
  underWay: Set<string>;
  modeOf: (paymentMode: string) => BuyerMode;
  allowsEscrow: (paymentMode: string) => boolean;
  fetch: Fetch;
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

/** How a hire ended for the buyer's money, and in which transaction. */
export type Conclusion = { money: MoneyState | "released"; tx?: Hex };

/** How a buyer pays: directly, or by one escrow. */
export type BuyerMode = {
  /**
   * Signs for what the seller asks, when it is what was agreed; `amount` is told before anything is signed, so that the
   * budget can refuse.
   *
   * @throws PaymentRefusedError
   */
  pay: (
    required: PaymentRequired,
    agreed: Agreed,
    hireId: Hex,
    reserve: (amount: bigint) => Promise<void>,
  ) => Promise<SignedPayment>;
  /** The escrow that a payment goes into; absent where there is none. */
  escrowOf?: (payment: SignedPayment) => EscrowOfHire;
  /** Where the money is once the payment was sent. */
  whenSent: MoneyState;
  /** Does what can be done for the money of a hire that failed after its payment was sent; says where the money is. */
  abandon: (payment: SignedPayment) => Promise<MoneyState>;
  /** Whether a payment whose hire was never finished is settled: not used and never to be, back, or the seller's. */
  isOver: (payment: SignedPayment) => Promise<false | "unpaid" | "back" | "paid">;
  /** Acts on what the verification found: in escrow mode it releases or refunds. */
  conclude: (payment: SignedPayment, verification: Verification) => Promise<Conclusion>;
};
