import type { Address } from "tallystick-protocol/address";
import type { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { Listing } from "tallystick-protocol/records/listing";
import type { LocalAccount, PublicClient } from "viem";
import { keptDisclosures } from "./audits/keptDisclosures.ts";
import type { Budget } from "./budget/budget.ts";
import { avoidedSellers } from "./buyer/avoidedSellers.ts";
import { createBackground } from "./buyer/background.ts";
import type { BuyerContext, BuyerMode } from "./buyer/buyerContext.ts";
import { chainReads } from "./buyer/chainReads.ts";
import { contentKey } from "./buyer/contentKey.ts";
import { directPayment } from "./buyer/directPayment.ts";
import { type AllowedEscrow, escrowPayment } from "./buyer/escrowPayment.ts";
import { findByKey } from "./buyer/hireByKey.ts";
import type { HireResult } from "./buyer/hireResult.ts";
import { journalAge } from "./buyer/journalAge.ts";
import { checkKey, type KeptHire, keptHires } from "./buyer/keptHires.ts";
import { listingSources } from "./buyer/listingSources.ts";
import { rateHire } from "./buyer/rateHire.ts";
import type { RatedOnChain } from "./buyer/rateOnChain.ts";
import type { RateParameters } from "./buyer/report.ts";
import { createReports } from "./buyer/reports.ts";
import { type OnOutcome, type ResumedHire, resumeHires } from "./buyer/resumeHires.ts";
import type { SearchClient } from "./buyer/searchClient.ts";
import { signedListing } from "./buyer/signedListing.ts";
import type { Verify } from "./buyer/verifyResult.ts";
import type { PaymentNetwork } from "./chain/paymentNetwork.ts";
import { noRecovery } from "./errors.ts";
import { hire } from "./hire.ts";
import type { HireParameters } from "./hireParameters.ts";
import { knownLedger } from "./knownLedger.ts";
import { createPublicFetch } from "./net/publicFetch.ts";
import { createQueryClient } from "./query/createQueryClient.ts";
import type { Fetch } from "./requestService.ts";
import { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";

export type CreateBuyerParameters = {
  /** The agent's wallet. It signs. It sends no transactions and needs no gas. */
  account: LocalAccount;
  /** The URL of the node. It answers searches, and takes ratings and telemetry. */
  baseUrl: string;
  network: PaymentNetwork;
  /**
   * The node's ledger, for which ratings and telemetry are signed. Default: the first answer of the node, kept in
   * `journal`.
   */
  ledger?: LedgerName;
  /**
   * The limit for all spending. Without a budget only each hire's own maximum counts. See `openTokenBudget`,
   * `storeBudget`.
   */
  budget?: Budget;
  /**
   * The escrows that may hold this buyer's money, by payment mode (`platform_escrow:ID`). No other escrow is ever
   * paid.
   */
  escrows?: { [paymentMode: string]: AllowedEscrow };
  /**
   * Remembers hires that are paid for. `fileStore(folder)` survives a crash between payment and verification. For
   * hires that may be audited it keeps the work for 17 days. Give this store to `createSeller` as `bought`. Then the
   * seller shows the work to auditors.
   */
  journal?: KeyValueStore;
  /** Finds sellers. Default: the node's `POST /v1/search`. */
  search?: SearchClient;
  /**
   * Reads the chain of `network`: a viem public client. Without it this buyer cannot see payments, so it never reports
   * a direct payment as paid, and an expired payment counts as spent. It also cannot check the listings of sellers
   * whose wallet is a contract, so it does not hire them.
   */
  client?: PublicClient;
  /** How many blocks must show a payment, its own block included. Default 1. */
  confirmations?: number;
  /** Allows sellers at http and private addresses. For local networks only. */
  devMode?: boolean;
  /** Reaches the node, and also sellers if it is given. */
  fetch?: Fetch;
  /** Reaches sellers. Default: public servers only, checked when the connection is made; see `createPublicFetch`. */
  sellerFetch?: Fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** The chain's clock in milliseconds, by which payments expire. Default: `now`. Local chains may be ahead of it. */
  chainNow?: () => number;
};

export type Buyer = {
  address: Address;
  /** See {@link hire}. The types of `params` and result are those of the capability. */
  hire: <Id extends string>(parameters: HireParameters<Id>) => Promise<HireResult<Id>>;
  /**
   * Rates a hire, once: with the token that came with it (SHP §9.1). Returns the ledger for which the rating was
   * signed, and with `erc8004` the result of posting it there. If posting fails, the rating still counts, and the
   * same call tries to post again.
   */
  rate: (parameters: RateParameters) => Promise<{ ledger: LedgerName; erc8004?: RatedOnChain }>;
  search: SearchClient["search"];
  /**
   * A listing as its seller signed it. `hire` checks this by itself. Before `clarify` the caller has to call this.
   *
   * @throws ListingError
   */
  signedListing: (shown: Listing) => Promise<Listing>;
  /** Concludes the hires that were interrupted. Call it at the start, or at any time. See {@link resumeHires}. */
  resume: (verify?: Verify, onOutcome?: OnOutcome) => Promise<ResumedHire[]>;
  /** The idempotency key that `hire` uses for a call without a key. */
  keyOf: (parameters: HireParameters) => Promise<string>;
  /**
   * The state of the hire with an idempotency key; undefined if there was none in the last 30 days. Resumes the
   * hire if its money is open and it does not run in this process.
   */
  find: (
    idempotencyKey: string,
    verify?: Verify,
  ) => Promise<{ kept: KeptHire; hire?: HireResult; error?: TallystickError } | undefined>;
  /** Waits for the background work of hires: reports to the ledger, releases and refunds. */
  idle: () => Promise<void>;
  /** How many reports wait for the ledger. `resume` and every hire send them. */
  waitingReports: () => Promise<number>;
};

/**
 * Makes a buyer. With it a program hires an agent by calling one function. It signs only payments to the listing's
 * payee, and never more than the listing's price, the budget and the caller's maximum allow.
 *
 * @example
 * const buyer = createBuyer({ account, baseUrl: "https://node.example", network: base, budget: memoryBudget(5_000_000n) });
 * const { result, verification } = await buyer.hire({ capability: "compute.statistics.mean", params: { data: [1, 2, 3] },
 *   maxPriceUsdc: "0.05", maxLatencyMs: 5_000 });
 */
export function createBuyer(parameters: CreateBuyerParameters): Buyer {
  const { account, baseUrl, network, escrows = {}, now = Date.now, chainNow = now } = parameters;
  const { client, confirmations = 1, devMode = false } = parameters;
  const fetch = parameters.fetch ?? globalThis.fetch.bind(globalThis);
  const reads = client && chainReads(client, network, confirmations);
  const direct = directPayment({ account, network, now: chainNow, readState: reads?.payment });
  const modes: { [paymentMode: string]: BuyerMode } = { direct };
  for (const [mode, allowed] of Object.entries(escrows)) {
    modes[mode] = escrowPayment({ account, network, allowed, now: chainNow, readState: reads?.escrow });
  }
  const node = createQueryClient({ baseUrl, fetch });
  const market = parameters.search ?? node;
  const search: BuyerContext["search"] = {
    search: (request, options) => market.search(request, options),
    sla: (agent, options) => (market.sla ? market.sla(agent, options) : node.sla(agent, options)),
  };
  // Strangers' addresses are resolved and checked at the moment of connecting.
  const sellerFetch = parameters.sellerFetch ?? (parameters.fetch || devMode ? fetch : createPublicFetch());
  const listings = listingSources({ node, sellerFetch, devMode, client });
  const allowsEscrow = (mode: string): boolean => Object.hasOwn(escrows, mode);
  const journal = parameters.journal ?? memoryStore();
  const background = createBackground();
  const ledger = knownLedger({ baseUrl, ledger: parameters.ledger, store: journal, fetch });
  const kept = keptHires(journal, account, now);
  const onReceipt = kept.receipt;
  const reports = createReports({
    account,
    baseUrl,
    fetch,
    ledger,
    sellerFetch,
    store: journal,
    now,
    network,
    onReceipt,
  });
  const context: BuyerContext = {
    account,
    address: account.address.toLowerCase() as Address,
    network,
    baseUrl,
    search,
    listings,
    budget: parameters.budget,
    journal,
    ledger,
    underWay: new Set(),
    verifiers: new Map(),
    kept,
    journalBegan: journalAge(journal, now),
    keyed: new Map(),
    background,
    reports,
    disclosures: keptDisclosures({ store: journal, now }),
    avoided: avoidedSellers(journal, now),
    allowsEscrow,
    isPaid: reads && ((nonce) => reads.isPaid(context.address, nonce)),
    refuseOtherChain: reads?.refuseOther,
    modeOf: (mode) => {
      const found = Object.hasOwn(modes, mode) ? modes[mode] : undefined;
      if (found) return found;
      throw noRecovery("The escrow of this hire is not on this buyer's list.", [mode]);
    },
    fetch,
    sellerFetch,
    devMode,
    now,
    random: () => toHex(crypto.getRandomValues(new Uint8Array(32))),
  };

  return {
    address: context.address,
    hire: async <Id extends string>(wanted: HireParameters<Id>) =>
      (await hire(context, wanted as HireParameters)) as HireResult<Id>,
    search: search.search,
    signedListing: (shown) => signedListing(listings, shown),
    resume: (verify, onOutcome) => resumeHires(context, verify, onOutcome),
    keyOf: (wanted) => contentKey(context, wanted),
    find: (key, verify) => findByKey(context, checkKey(key), verify),
    idle: background.idle,
    waitingReports: reports.waiting,
    rate: (rating) => rateHire(context, rating, client),
  };
}
