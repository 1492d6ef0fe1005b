import type { Address } from "tallystick-protocol/address";
import { parseUsdc } from "tallystick-protocol/amount";
import { type Hex, isHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type Listing, listingPayee, listingSchema, parseListing } from "tallystick-protocol/records/listing";
import { isSignedBy, recordSigningHash } from "tallystick-protocol/records/record";
import { within } from "../deadline.ts";
import { ListingError } from "../errors.ts";
import { requirePublicUrl } from "../publicUrl.ts";
import type { ListingSources } from "./listingSources.ts";
import { createSellerClient } from "./sellerClient.ts";

/** A listing in the form that its seller signed, from a source that is not trusted. */
type SignedForm = { body: RecordBody; signature: Hex };

/** How long one source may take, in milliseconds. */
const SOURCE_MS = 5_000;

/** The longest listing that is looked at, in characters of JSON. No ledger takes a longer listing. */
const MAX_LISTING_LENGTH = 65_536;

/** The longest signature, in characters. The signature of a contract wallet may be long. */
const MAX_SIGNATURE_LENGTH = 20_000;

/** How many listings of the seller's own answer are looked at. */
const MAX_OWN_LISTINGS = 1_000;

/** The most listings of that answer whose signatures are checked. */
const MAX_CHECKED = 4;

/**
 * Returns a listing as its seller signed it. Neither a node nor a search is believed, because each could show another
 * payee, endpoint or price. The signed form comes from the search, the node or the seller itself. The agent of the
 * listing must have signed it, and it must have the same terms as the shown listing.
 *
 * The signature does not show whether the seller has replaced the listing since.
 *
 * @param shown the listing as the search showed it. An `entry_hash` in it names its ledger entry
 * @param given.signed what the search gave as its signed form
 * @param given.isQuoted whether a quote replaces the price
 * @throws ListingError `listing_differs`, `listing_not_signed`, `listing_unavailable`
 * @throws InvalidInputError when `shown` is no listing
 */
export async function signedListing(
  sources: ListingSources,
  shown: Listing,
  given: { signed?: unknown; isQuoted?: boolean; signal?: AbortSignal } = {},
): Promise<Listing> {
  const wanted = parseListing(shown as RecordBody);
  const forms = [
    async () => [given.signed],
    async () => [await nodesForm(sources, wanted)],
    async () => await sellersForms(sources, wanted, given.signal),
  ];
  let problem: ListingError | undefined;
  for (const read of forms) {
    const found = (await within(read(), SOURCE_MS).catch(() => undefined)) ?? [];
    given.signal?.throwIfAborted();
    for (const form of found) {
      const checked = await check(sources, form, wanted, given.isQuoted ?? false);
      if (checked === undefined) continue;
      if (!(checked instanceof ListingError)) return checked;
      if (problem?.code !== "listing_differs") problem = checked;
    }
  }
  throw problem ?? unavailable(wanted.agent_id);
}

/** The node's record of the entry that the shown listing names. */
async function nodesForm({ fromNode }: ListingSources, shown: Listing): Promise<unknown> {
  const hash = Reflect.get(shown, "entry_hash");
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? await fromNode(hash) : undefined;
}

/** The listings of this capability and mode that the seller's endpoint gives (`GET /listings`). */
async function sellersForms(
  { sellerFetch, devMode }: ListingSources,
  { agent_id: agent, capability, payment_mode: mode, endpoint }: Listing,
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  if (!devMode) requirePublicUrl(endpoint, "listing.endpoint");
  const { body } = await createSellerClient({ endpoint }, sellerFetch, signal)("/listings", SOURCE_MS);
  const { listings } = Object(body) as { listings?: unknown };
  if (!Array.isArray(listings)) return [];
  const isIt = (form: unknown): boolean => {
    const of = Object(Object(form).body);
    return of.agent_id === agent && of.capability === capability && (of.payment_mode ?? "direct") === mode;
  };
  return listings.slice(0, MAX_OWN_LISTINGS).filter(isIt).slice(0, MAX_CHECKED);
}

/** The listing of a signed form, or what is wrong with it. Undefined when it does not have the form. */
async function check(
  { askWallet }: ListingSources,
  given: unknown,
  shown: Listing,
  isQuoted: boolean,
): Promise<Listing | ListingError | undefined> {
  const form = readForm(given);
  if (form === undefined) return undefined;
  const { agent_id: agent } = shown;
  const read = listingSchema.safeParse(form.body);
  // A signed body with a `type` is another record. Only listings and receipts may be signed without it.
  const isListing = read.success && read.data.agent_id === agent && !Object.hasOwn(form.body, "type");
  if (!isListing) return notSigned(agent, "The signed form that came with it is no listing of this agent.");
  if (!isSignedBy(form.body, form.signature, agent)) {
    const answer = askWallet && (await askWallet({ signer: agent, ...hashOf(form) }));
    if (answer !== "yes") return notSigned(agent, WALLET_SAYS[answer ?? "unasked"]);
  }
  const field = differing(shown, read.data, isQuoted);
  return field === undefined ? read.data : differs(agent, field);
}

function readForm(given: unknown): SignedForm | undefined {
  const { body, signature } = Object(given) as { body?: unknown; signature?: unknown };
  if (body === null || typeof body !== "object" || Array.isArray(body)) return undefined;
  if (typeof signature !== "string" || signature.length > MAX_SIGNATURE_LENGTH) return undefined;
  if (!isHex(signature)) return undefined;
  const form = { body: body as RecordBody, signature };
  try {
    // A body that is too long is in no ledger, and a body that cannot be hashed was never signed.
    return JSON.stringify(body).length <= MAX_LISTING_LENGTH && hashOf(form) ? form : undefined;
  } catch {
    return undefined;
  }
}

function hashOf({ body, signature }: SignedForm): { hash: Hex; signature: Hex } {
  return { hash: recordSigningHash(body), signature };
}

/**
 * The first term that differs between the shown listing and the signed listing. Only the terms on which a buyer
 * acts are compared.
 */
function differing(shown: Listing, signed: Listing, isQuoted: boolean): string | undefined {
  const [one, other] = [termsOf(shown), termsOf(signed)];
  const fields = Object.keys(one) as (keyof typeof one)[];
  return fields.find((field) => one[field] !== other[field] && !(isQuoted && field === "price_usdc"));
}

function termsOf(listing: Listing) {
  const { capability, payment_mode, max_latency_ms, endpoint, first_call_free, retired } = listing;
  const { verification_version, clarification_supported } = listing;
  return {
    ...{ capability, payment_mode, price_usdc: parseUsdc(listing.price_usdc), max_latency_ms, endpoint },
    ...{ payee: listingPayee(listing), first_call_free, retired },
    ...{ verification_version, clarification_supported },
  };
}

const WALLET_SAYS = {
  unasked: "The seller's key did not sign it.",
  no: "Neither the seller's key nor its contract wallet signed it.",
  unknown:
    "The seller's key did not sign it, and the chain could not be asked whether the seller's contract wallet did.",
} as const;

function notSigned(seller: Address, why: string): ListingError {
  return new ListingError({
    code: "listing_not_signed",
    message: `The listing of ${seller} is not proved to be its own. ${why}`,
    hint: "Nothing was signed. Ask another node. If the seller's wallet is a contract, give createBuyer a `client` (TALLYSTICK_RPC_URL).",
    seller,
  });
}

function differs(seller: Address, field: string): ListingError {
  return new ListingError({
    code: "listing_differs",
    message: `The listing of ${seller} was shown with another ${field} than its seller signed.`,
    hint: "Nothing was signed. Search again: the listing may be new. If it happens again, the node lies: ask another one.",
    seller,
  });
}

function unavailable(seller: Address): ListingError {
  return new ListingError({
    code: "listing_unavailable",
    message: `Nobody gave the listing of ${seller} in the form that its seller signed.`,
    hint: "Nothing was signed. Ask another node, or give `trustListing` with a `listing` of your own.",
    seller,
  });
}
