import { type FacilitatorClient, HTTPFacilitatorClient } from "@x402/core/server";
import type { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import { toHex } from "tallystick-protocol/hex";
import type { Listing } from "tallystick-protocol/records/listing";
import type { SignedRecord } from "tallystick-protocol/records/record";
import type { LocalAccount, PublicClient } from "viem";
import type { AuditNode } from "./audits/assignment.ts";
import { type SellersDisclosures, sellersDisclosures } from "./audits/sellersDisclosures.ts";
import type { PaymentNetwork } from "./chain/paymentNetwork.ts";
import { expectSettled } from "./expectSettled.ts";
import { createPublicFetch } from "./net/publicFetch.ts";
import { requirePublicUrl } from "./publicUrl.ts";
import { type Fetch, requestService } from "./requestService.ts";
import { requireAdopted } from "./seller/adoptStore.ts";
import { createCallbacks } from "./seller/callbacks.ts";
import { type CustomSchemas, capabilityRules } from "./seller/capabilityRules.ts";
import { directMode } from "./seller/directMode.ts";
import { type FindPayment, findPaymentOnChain } from "./seller/findPayment.ts";
import { createFreeCalls, type HasHired } from "./seller/freeCalls.ts";
import type { Handler, Handlers } from "./seller/handlers.ts";
import type { RedeemQuote } from "./seller/intake.ts";
import type { Job, SettlementMode } from "./seller/job.ts";
import { createJobRunner, isEnded, type JobRunnerParameters, settledFields } from "./seller/jobRunner.ts";
import { type Offers, type OfferTerms, signOffers } from "./seller/offers.ts";
import { createOldWork } from "./seller/oldWork.ts";
import { createReceiptOutbox } from "./seller/receiptOutbox.ts";
import { sellerApp } from "./seller/sellerApp.ts";
import { HireRefusedError } from "./seller/sellerErrors.ts";
import { sellerStore } from "./seller/sellerStore.ts";
import { createUpkeep } from "./seller/upkeep.ts";
import { createJobLeases } from "./store/jobLeases.ts";
import type { KeyValueStore } from "./store/keyValueStore.ts";

export type CreateSellerParameters = {
  /** The agent's wallet: signs listings and receipts. It sends no transactions. */
  account: LocalAccount;
  listings: readonly OfferTerms[];
  /** The functions that do the work, by capability. Each has the types of its capability. */
  handlers: Handlers;
  /**
   * The URL at which buyers reach this seller. Hires go to `POST {endpoint}/hire`. If it has a path, a proxy in front may
   * remove the path or leave it.
   */
  endpoint: string;
  /** The URL of the node that takes listings and receipts. */
  baseUrl: string;
  network: PaymentNetwork;
  /** Verifies and settles direct payments: a client, or the URL of a facilitator. */
  facilitator: FacilitatorClient | string;
  /**
   * Remembers jobs, nonces, buyers and receipts. Use `fileStore(folder)` in production. Several sellers may share
   * it, and so may several processes of one seller: only one process runs a job.
   */
  store: KeyValueStore;
  /** How long a silent process keeps its jobs from the seller's other processes, in milliseconds. Default 10,000. */
  leaseMs?: number;
  /**
   * Reads the chain: a viem public client. With it, the seller delivers nothing for a direct payment that the chain
   * does not show, even if a facilitator confirms the payment. After a crash, the seller also looks up the unfinished
   * payments on the chain. Without `client` and `findPayment`, a seller of direct payments logs at its start that it
   * lacks this.
   */
  client?: PublicClient;
  /** How many blocks must show a payment, its own block included. Default 1. */
  confirmations?: number;
  /** How long the chain may take to show what the facilitator settled, in milliseconds. Default 5,000. */
  shownWithinMs?: number;
  /** Replaces `client` for looking payments up; see `findPaymentOnChain`. */
  findPayment?: FindPayment;
  /** How payment modes other than `direct` are settled, by mode; see `escrowMode`. */
  modes?: { [paymentMode: string]: SettlementMode };
  /** Schemas of `custom.*` capabilities (SHP §5.2). */
  schemas?: CustomSchemas;
  /** Checks the quote of a hire and gives its price; see `createClarification`. */
  redeemQuote?: RedeemQuote;
  /** Answers which auditor is assigned to a hire and may see its work. Default: the node at `baseUrl`. */
  auditNode?: Pick<AuditNode, "openOfSeller" | "openOfHire">;
  /** The journal of the same agent's buyer. With it, auditors may also ask here for the work that this agent bought. */
  bought?: KeyValueStore;
  /**
   * How long an audit may wait for an auditor, in seconds: the node's `audit.disclosureSeconds`. Default 14 days. The
   * work for auditors is kept three days longer.
   */
  disclosureSeconds?: number;
  /** Asks the indexer whether a buyer has hired before, for free first calls. */
  hasHired?: HasHired;
  freeCallsPerDay?: number;
  /**
   * How long the params and the result of an ended job are kept, in milliseconds. Default: 90 days. `Infinity` keeps them
   * for ever.
   */
  keepWorkMs?: number;
  /** The most jobs that run at the same time. Default 64. */
  maxRunning?: number;
  /** The largest request, in bytes. Default 1 MiB. */
  maxBodyBytes?: number;
  /** How long an answer waits until its receipt is settled, in milliseconds. Default 2,000. */
  receiptWaitMs?: number;
  /**
   * How long the receipt of a free hire, or of a payment to another payee, waits for its buyer's signature, in
   * milliseconds. Default 10,000.
   */
  countersignMs?: number;
  /** Allows callbacks to http and private addresses. For local networks only. */
  devMode?: boolean;
  /** Milliseconds since 1970. */
  now?: () => number;
  fetch?: Fetch;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

export type Seller = {
  address: Address;
  /** Serve this: `serve({ fetch: app.fetch, port })`. */
  app: Hono;
  listings: SignedRecord[];
  /** Puts the listings into the ledger. Safe to repeat. @throws ServiceError */
  publish: () => Promise<void>;
  /** Resumes what a crash interrupted: unfinished jobs and receipts on their way. Call it once at the start. */
  resume: () => Promise<void>;
  /** Receipts that have not reached the ledger yet. */
  waitingReceipts: () => Promise<number>;
  /** Waits for running jobs and stops. */
  close: () => Promise<void>;
};

/**
 * A seller: a Hono app with `POST /hire`, `GET /jobs/{id}`, `GET /capabilities/{id}/schema` and `GET /listings`. It
 * takes x402 payments. Its receipts reach the ledger even after a crash (SHP §7, §11, §12). A listing with `audit:
 * {operator}` may be audited (SHP §8.3): then `GET /audits/{hire}` shows the work to its auditor, at the root of the
 * endpoint's origin.
 * @throws InvalidInputError for a listing that is not valid; HireRefusedError `no_handler`, `unknown_capability`,
 * `mode_not_configured`; TallystickError `store_of_before`
 *
 * @example
 * const seller = await createSeller({ account, endpoint: "https://agent.example/v1", baseUrl, network: base,
 *   facilitator: "https://facilitator.example", client, store: fileStore("./seller"),
 *   listings: [{ capability: "compute.statistics.mean", price_usdc: "0.02", max_latency_ms: 5000 }],
 *   handlers: { "compute.statistics.mean": ({ data }) => ({ result: mean(data) }) } });
 * serve({ fetch: seller.app.fetch, port: 8080 }); await seller.resume(); await seller.publish();
 */
export async function createSeller(parameters: CreateSellerParameters): Promise<Seller> {
  const { account, endpoint, network } = parameters;
  // The capability's schema checks the input of a handler, so here all handlers can have one type.
  const handlers = parameters.handlers as { [capability: string]: Handler };
  const { log = () => {}, now = Date.now } = parameters;
  const address = account.address.toLowerCase() as Address;
  await requireAdopted(parameters.store);
  const store = sellerStore(parameters.store, address);
  const { leaseMs = 10_000 } = parameters;
  const leases = createJobLeases({ store, leaseMs, now });
  const issuedAt = Math.floor(now() / 1000);
  const offers = await signOffers(parameters.listings, { account, endpoint, issuedAt });
  const rules = capabilityRules(parameters.schemas ?? {});
  for (const { listing } of offers.live) requireHandler(listing, handlers, rules.isKnown);
  // Verifiers are loaded in advance, so no buyer waits for a verifier, or is refused because a verifier is missing.
  await Promise.all(offers.live.map(({ listing }) => rules.schemaOf(listing.capability)));

  const disclosures = await openDisclosures(parameters, { seller: address, offers, store, now, log });
  const modeOf = modesOf(parameters);
  for (const { listing } of offers.live) modeOf(listing.payment_mode);
  sayIfBlind(offers, parameters, log);

  const { freeCalls, outbox, callbacks, runner } = openWork(parameters, {
    store,
    leases,
    leaseMs,
    handlers,
    modeOf: (job) => modeOf(job.mode),
    listingOf: (job) => job.listing ?? listingOf(offers, job),
    verify: (job, listing) => rules.verify(job, listing.verification_version),
    disclose: disclosures.disclose,
    now,
    log,
  });

  const app = sellerApp({
    seller: address,
    account,
    offers,
    rules,
    isAudited: disclosures.isAudited,
    disclosures: disclosures.routes,
    redeemQuote: parameters.redeemQuote,
    now,
    network,
    store,
    paymentsTo: (payee) => sellerStore(parameters.store, payee),
    modeOf,
    runner,
    freeCalls,
    outbox,
    maxRunning: parameters.maxRunning ?? 64,
    maxBodyBytes: parameters.maxBodyBytes ?? 1_048_576,
    checkCallback: (url) => {
      if (!parameters.devMode) requirePublicUrl(url, "callback_url");
    },
    random: () => toHex(crypto.getRandomValues(new Uint8Array(16))),
    log,
  });

  const deleteOldWork = createOldWork({ store, keepMs: parameters.keepWorkMs, now });
  const given = { store, leases, leaseMs, runner, modeOf, log };
  const upkeep = createUpkeep({ ...given, sweeps: [disclosures.sweep, deleteOldWork] });
  return {
    address,
    app,
    listings: offers.all.map(({ record }) => record),
    publish: () => publishOffers(offers, parameters),
    resume: async () => {
      outbox.start();
      await callbacks.start();
      await upkeep.start();
    },
    waitingReceipts: outbox.waiting,
    close: async () => {
      upkeep.stop();
      await runner.idle();
      await Promise.all([outbox.close(), callbacks.close()]);
    },
  };
}

function listingOf(offers: Offers, { capability, mode }: Job): Listing | undefined {
  const isIt = ({ capability: id, payment_mode }: Listing) => id === capability && payment_mode === mode;
  return offers.all.find(({ offer }) => isIt(offer.listing))?.offer.listing;
}

/** Opens the answers for auditors. The node says who the auditors are. */
function openDisclosures(
  { auditNode, bought, baseUrl, fetch, disclosureSeconds }: CreateSellerParameters,
  {
    offers,
    ...given
  }: Pick<Parameters<typeof sellersDisclosures>[0], "seller" | "store" | "now" | "log"> & {
    offers: Offers;
  },
): Promise<SellersDisclosures> {
  const listings = offers.all.map(({ offer }) => offer.listing);
  return sellersDisclosures({
    ...given,
    listings,
    bought,
    node: auditNode,
    baseUrl,
    fetch,
    seconds: disclosureSeconds,
  });
}

async function publishOffers(offers: Offers, { baseUrl, fetch }: CreateSellerParameters): Promise<void> {
  for (const { record } of offers.all) {
    const { body, signer, signature } = record;
    const { text } = await requestService({
      baseUrl,
      path: "/v1/listings",
      body: { body, signer, signature },
      fetch,
    });
    expectSettled(text);
  }
}

/** The parts that work on hires: who runs jobs, and where receipts, callbacks and free calls are kept. */
function openWork(
  parameters: CreateSellerParameters,
  given: Pick<
    JobRunnerParameters,
    "store" | "leases" | "handlers" | "modeOf" | "listingOf" | "verify" | "disclose" | "now" | "log"
  > & { leaseMs: number },
) {
  const { account, baseUrl, network, fetch } = parameters;
  const { store, leaseMs, now, log } = given;
  const freeCalls = createFreeCalls({
    store,
    now,
    hasHired: parameters.hasHired,
    ...(parameters.freeCallsPerDay !== undefined && { perDay: parameters.freeCallsPerDay }),
  });
  const outbox = createReceiptOutbox({
    store,
    baseUrl,
    fetch,
    now,
    log,
    onSettled: async (id, settled) => {
      const job = await store.get<Job>(`job/${id}`);
      if (job?.answer)
        await store.put(`job/${id}`, { ...job, answer: { ...job.answer, ...settledFields(settled) } });
    },
  });
  const callbacks = createCallbacks({
    account,
    store,
    log,
    fetch: fetch ?? (parameters.devMode ? globalThis.fetch.bind(globalThis) : createPublicFetch()),
  });
  const runner = createJobRunner({
    ...given,
    account,
    network,
    outbox,
    restMs: 3 * leaseMs,
    receiptWaitMs: parameters.receiptWaitMs ?? 2_000,
    countersignMs: parameters.countersignMs ?? 10_000,
    beforeEnd: async (job) => {
      if (job.callbackUrl !== undefined) await callbacks.note(job);
    },
    onEnd: async (job) => {
      if (job.free && job.stage === "failed") await freeCalls.giveBack(job.buyer, job.capability);
      else if (job.stage === "completed") await freeCalls.see(job.buyer, job.capability);
      if (job.callbackUrl !== undefined && isEnded(job.stage)) await callbacks.tell(job);
    },
  });
  return { freeCalls, outbox, callbacks, runner };
}

/** Returns a function that finds how a payment mode is settled. It throws HireRefusedError `mode_not_configured`. */
function modesOf(parameters: CreateSellerParameters): (mode: string) => SettlementMode {
  const { network, client, confirmations = 1, shownWithinMs, log } = parameters;
  const facilitator =
    typeof parameters.facilitator === "string"
      ? new HTTPFacilitatorClient({ url: parameters.facilitator })
      : parameters.facilitator;
  const findPayment =
    parameters.findPayment ?? (client && findPaymentOnChain(client, network, { confirmations }));
  const modes: { [mode: string]: SettlementMode } = {
    ...parameters.modes,
    direct: directMode({ network, facilitator, findPayment, shownWithinMs, ...(log && { log }) }),
  };
  return (mode) => {
    const found = Object.hasOwn(modes, mode) ? modes[mode] : undefined;
    if (found) return found;
    throw new HireRefusedError({
      status: 500,
      code: "mode_not_configured",
      message: `This seller cannot settle ${mode}.`,
      hint: "Give createSeller `modes` for every payment_mode of its listings.",
    });
  };
}

/** Without a look at the chain a seller delivers on the word of a facilitator, and never knows that a payment is lost. */
function sayIfBlind(
  { live }: Offers,
  { client, findPayment }: CreateSellerParameters,
  log: NonNullable<CreateSellerParameters["log"]>,
): void {
  if (client || findPayment || !live.some(({ listing }) => listing.payment_mode === "direct")) return;
  log("This seller does not look for payments on the chain: it believes its facilitator.", {
    effect:
      "It cannot show that a payment is lost. A job whose payment is uncertain stays open until it is put aside.",
    hint: "Give createSeller `client`, a viem public client.",
  });
}

function requireHandler(
  { capability }: Listing,
  handlers: { [capability: string]: Handler },
  isKnown: (capability: string) => boolean,
): void {
  if (!Object.hasOwn(handlers, capability)) {
    throw new HireRefusedError({
      status: 500,
      code: "no_handler",
      message: `${capability} is offered, but handlers has no function for it.`,
      field: "handlers",
    });
  }
  if (!isKnown(capability)) {
    throw new HireRefusedError({
      status: 500,
      code: "unknown_capability",
      message: `schemas has no entry for ${capability}.`,
      field: "schemas",
      hint: "Capabilities outside of the standard bring their schemas (SHP §5.2).",
    });
  }
}
