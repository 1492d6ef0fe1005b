import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { LocalAccount, PublicClient } from "viem";
import { testUsdcAbi } from "../protocol/abi/testUsdcAbi.ts";
import type { Address } from "../protocol/address.ts";
import { type Hex, toBareHex, toHex } from "../protocol/hex.ts";
import { signRecord } from "../protocol/records/record.ts";
import type { Budget } from "./budget/budget.ts";
import type { BuyerContext, BuyerMode } from "./buyer/buyerContext.ts";
import { directPayment } from "./buyer/directPayment.ts";
import { type AllowedEscrow, escrowPayment } from "./buyer/escrowPayment.ts";
import { type RateParameters, ratingBody } from "./buyer/report.ts";
import { type ResumedHire, resumeHires } from "./buyer/resumeHires.ts";
import type { SearchClient } from "./buyer/searchClient.ts";
import type { Verify } from "./buyer/verifyResult.ts";
import type { PaymentNetwork } from "./chain/paymentNetwork.ts";
import { noRecovery } from "./errors.ts";
import { type HireParameters, type HireResult, hire } from "./hire.ts";
import { createQueryClient } from "./query/createQueryClient.ts";
import { type Fetch, requestService } from "./requestService.ts";
import { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";

export type CreateBuyerParameters = {
  /** The agent's wallet. It signs; it sends no transactions and needs no gas. */
  account: LocalAccount;
  /** Of the node: search, and where ratings and telemetry go. */
  baseUrl: string;
  network: PaymentNetwork;
  /** What may be spent in all; without one only each hire's own maximum counts. See `openTokenBudget`, `storeBudget`. */
  budget?: Budget;
  /** The escrows that may hold this buyer's money, by payment mode (`platform_escrow:ID`). No other is ever paid into. */
  escrows?: { [paymentMode: string]: AllowedEscrow };
  /** Remembers hires that are paid for: `fileStore(folder)` to survive a crash between payment and verification. */
  journal?: KeyValueStore;
  /** Finds sellers. Default: the node's `POST /v1/search`. */
  search?: SearchClient;
  /** Reads the chain, so that expired payments come back to the budget: a viem public client. */
  client?: PublicClient;
  /** Allows sellers at http and private addresses. For local networks only. */
  devMode?: boolean;
  fetch?: Fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** The chain's clock in milliseconds, by which payments expire. Default: `now`; local chains may be ahead of it. */
  chainNow?: () => number;
};

export type Buyer = {
  address: Address;
  /** See {@link hire}. The types of `params` and result are those of the capability. */
  hire: <Id extends string>(parameters: HireParameters<Id>) => Promise<HireResult<Id>>;
  /** Rates a hire, once: with the token that came with it (SHP §9.1). */
  rate: (parameters: RateParameters) => Promise<void>;
  search: SearchClient["search"];
  /** Concludes the hires that were interrupted; call it at the start, or at any time. See {@link resumeHires}. */
  resume: (verify?: Verify) => Promise<ResumedHire[]>;
};

/**
 * A buyer: hires agents as one calls a function. Never signs for more than the listing's price, the budget and the
 * caller's maximum, nor to anybody but the listing's payee.
 *
 * @example
 * const buyer = createBuyer({ account, baseUrl: "https://node.example", network: base, budget: memoryBudget(5_000_000n) });
 * const { result, verification } = await buyer.hire({ capability: "compute.statistics.mean", params: { data: [1, 2, 3] },
 *   maxPriceUsdc: "0.05", maxLatencyMs: 5_000 });
 */
export function createBuyer(parameters: CreateBuyerParameters): Buyer {
  const { account, baseUrl, network, escrows = {}, now = Date.now, chainNow = now } = parameters;
  const fetch = parameters.fetch ?? globalThis.fetch.bind(globalThis);
  const { client } = parameters;
  const isUsed =
    client && ((payer: Address, nonce: Hex) => isAuthorizationUsed(client, network, payer, nonce));
  const direct = directPayment({ account, network, now: chainNow, isUsed });
  const modes: { [paymentMode: string]: BuyerMode } = { direct };
  for (const [mode, allowed] of Object.entries(escrows)) {
    modes[mode] = escrowPayment({ account, network, allowed, now: chainNow });
  }
  const search = parameters.search ?? createQueryClient({ baseUrl, fetch });
  const allowsEscrow = (mode: string): boolean => Object.hasOwn(escrows, mode);
  const context: BuyerContext = {
    account,
    address: account.address.toLowerCase() as Address,
    network,
    baseUrl,
    search,
    budget: parameters.budget,
    journal: parameters.journal ?? memoryStore(),
    underWay: new Set(),
    allowsEscrow,
    modeOf: (mode) => {
      const found = Object.hasOwn(modes, mode) ? modes[mode] : undefined;
      if (found) return found;
      throw noRecovery(`${mode} is not on this buyer's list of escrows.`);
    },
    fetch,
    devMode: parameters.devMode ?? false,
    now,
    random: () => toHex(crypto.getRandomValues(new Uint8Array(32))),
  };

  return {
    address: context.address,
    hire: async <Id extends string>(wanted: HireParameters<Id>) =>
      (await hire(context, wanted as HireParameters)) as HireResult<Id>,
    search: search.search,
    resume: (verify) => resumeHires(context, verify),
    rate: async (rating) => {
      const { comment, ratingToken } = rating;
      const hash = comment === undefined ? undefined : toBareHex(sha256(utf8ToBytes(comment)));
      const record = await signRecord({ type: "rating", body: ratingBody(rating, hash), account });
      const { body, signer, signature } = record;
      const sent = {
        body,
        signer,
        signature,
        rating_token: ratingToken,
        ...(comment !== undefined && { comment }),
      };
      await requestService({ baseUrl, path: "/v1/rate", body: sent, fetch });
    },
  };
}

async function isAuthorizationUsed(
  client: PublicClient,
  { token }: PaymentNetwork,
  payer: Address,
  nonce: Hex,
): Promise<boolean> {
  const functionName = "authorizationState";
  return await client.readContract({ address: token, abi: testUsdcAbi, functionName, args: [payer, nonce] });
}
