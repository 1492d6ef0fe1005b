import type { Address } from "tallystick-protocol/address";
import type { QuoteOffer } from "tallystick-protocol/clarification/clarifyAnswer";
import { TallystickError } from "tallystick-protocol/errors";
import type { Listing } from "tallystick-protocol/records/listing";
import type { Budget } from "tallystick-sdk/budget/budget";
import type { CounterMemory } from "tallystick-sdk/clarify/clarify";
import type { Buyer } from "tallystick-sdk/createBuyer";
import type { QueryClient } from "tallystick-sdk/query/createQueryClient";
import type { Fetch } from "tallystick-sdk/requestService";
import type { LocalAccount, PublicClient } from "viem";
import type { HireDesk } from "./hireDesk.ts";

/** An agent's wallet and what it may spend. */
export type McpWallet = { account: LocalAccount; address: Address };

/** What may be spent, by the cap that the operator set. Amounts are atomic units. */
export type SpendCap = {
  budget: Budget;
  total: bigint;
  perHire: bigint;
  /** How it may be paid: `direct`, and the escrows that the operator allows. */
  paymentModes: string[];
  buyer: Buyer;
};

/** What the tools work with. One for all sessions of a process: there is one wallet and one cap. */
export type McpContext = {
  /** Of the node. */
  baseUrl: string;
  query: QueryClient;
  /** Absent: tools that sign refuse. */
  wallet: McpWallet | undefined;
  /** Absent: tools that pay refuse. */
  spend: SpendCap | undefined;
  /** For the settlement of actions. */
  apiKey: string | undefined;
  /** The dispatcher of `dispatch_task`, and the key for it. Absent: the tool refuses. */
  dispatch: { url: string; key: string } | undefined;
  /** Offers that sellers made in clarification, by their token: what `hire_agent` accepts. */
  offers: Map<string, { listing: Listing; offer: QuoteOffer }>;
  counters: CounterMemory;
  /** The hires that are under way. */
  desk: HireDesk;
  /** How long a tool waits for a hire before it gives a handle, in milliseconds. */
  handleAfterMs: number;
  devMode: boolean;
  fetch: Fetch;
  /** Asked who writes a ledger, where its id does not say it. Absent: then such proofs are refused. */
  chain: PublicClient | undefined;
  /** Reaches sellers, which are strangers. */
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
