import type { Address } from "tallystick-protocol/address";
import type { QuoteOffer } from "tallystick-protocol/clarification/clarifyAnswer";
import { TallystickError } from "tallystick-protocol/errors";
import type { Listing } from "tallystick-protocol/records/listing";
import type { Budget } from "tallystick-sdk/budget/budget";
import type { ListingSources } from "tallystick-sdk/buyer/listingSources";
import type { CounterMemory } from "tallystick-sdk/clarify/clarify";
import type { Buyer } from "tallystick-sdk/createBuyer";
import type { QueryClient } from "tallystick-sdk/query/createQueryClient";
import type { Fetch } from "tallystick-sdk/requestService";
import type { LocalAccount, PublicClient } from "viem";
import type { HireDesk } from "./hireDesk.ts";
import type { ResumeDesk } from "./resumeDesk.ts";

/** An agent's wallet. {@link SpendCap} limits what it may spend. */
export type McpWallet = { account: LocalAccount; address: Address };

/** The spending cap that the operator set. Amounts are in atomic units. */
export type SpendCap = {
  budget: Budget;
  total: bigint;
  perHire: bigint;
  /** The allowed payment modes: `direct`, and the escrows that the operator allows. */
  paymentModes: string[];
  buyer: Buyer;
};

/** The context of all tools. All sessions of a process share it, because there is one wallet and one cap. */
export type McpContext = {
  /** The node's URL. */
  baseUrl: string;
  query: QueryClient;
  /** If absent, the tools that sign refuse to work. */
  wallet: McpWallet | undefined;
  /** If absent, the tools that pay refuse to work. */
  spend: SpendCap | undefined;
  /** The API key for settlement, which decides about actions. If absent, the tool that asks it refuses to work. */
  apiKey: string | undefined;
  /** The dispatcher of `dispatch_task` and its key. If absent, the tool refuses to work. */
  dispatch: { url: string; key: string } | undefined;
  /** Offers that sellers made in clarifications, by their token. `hire_agent` accepts these tokens. */
  offers: Map<string, { listing: Listing; offer: QuoteOffer }>;
  /** When sellers last offered alternatives. */
  counters: CounterMemory;
  /** Where the signed form of a listing comes from. */
  listings: ListingSources;
  /** The hires that are running. */
  desk: HireDesk;
  /** The hires that are being resumed. */
  resumes: ResumeDesk;
  /** How long a tool waits for a hire before it answers that the hire still runs, in milliseconds. */
  handleAfterMs: number;
  devMode: boolean;
  fetch: Fetch;
  /**
   * Reads the chain. If a ledger's id does not show its writer, the chain says who writes the ledger. Without the chain
   * the tools refuse proofs of such a ledger.
   */
  chain: PublicClient | undefined;
  /** Sends requests to sellers, which are strangers. */
  sellerFetch: Fetch;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** @throws TallystickError `no_wallet` */
export function requireWallet({ wallet }: McpContext): McpWallet {
  if (wallet) return wallet;
  throw new TallystickError({
    code: "no_wallet",
    message: "This server has no wallet, so it can only read.",
    hint: "Its operator can set TALLYSTICK_PRIVATE_KEY.",
  });
}

/** @throws TallystickError `no_wallet`, `no_spend_cap` */
export function requireSpendCap(context: McpContext): SpendCap {
  requireWallet(context);
  if (context.spend) return context.spend;
  throw new TallystickError({
    code: "no_spend_cap",
    message: "This server may not pay: no spend cap was set.",
    hint: "Its operator can set TALLYSTICK_SPEND_CAP_USDC, for example to 5.00.",
  });
}
