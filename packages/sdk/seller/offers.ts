import { offerProblem } from "tallystick-capabilities/offerProblem";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseListing } from "tallystick-protocol/records/listing";
import { type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import * as z from "zod";
import type { Offer } from "./job.ts";
import { HireRefusedError } from "./sellerErrors.ts";

/** What a seller offers. The rest of the listing (SHP §3) is filled in. Unknown keys are kept and signed. */
export const offerTermsSchema = z.looseObject({
  capability: capabilitySchema,
  price_usdc: priceUsdcSchema,
  max_latency_ms: z.int().min(1),
  /** `direct` when it is not given. The same capability may be offered in several modes (SHP §7.3.1). */
  payment_mode: z.string().optional(),
  payee: addressSchema.optional(),
});

export type OfferTerms = z.input<typeof offerTermsSchema>;

/** Offers with their signed listings, in the order in which they were given. */
export type Offers = {
  /** The published listings: offers, and retirements of earlier offers. */
  all: { offer: Offer; record: SignedRecord }[];
  /** The offers that can be hired. */
  live: Offer[];
  /**
   * The offer of a capability in one mode. Without a mode: the `direct` one, else the first. @throws
   * HireRefusedError
   */
  find: (capability: string, mode?: string | null) => Offer;
};

/**
 * Makes and signs the listings of a seller.
 *
 * @param issuedAt unix seconds; the newest listing of an offer is the one that counts
 * @throws InvalidInputError naming the listing and its field
 */
export async function signOffers(
  terms: readonly OfferTerms[],
  by: { account: LocalAccount; endpoint: string; issuedAt: number },
): Promise<Offers> {
  const agent = by.account.address.toLowerCase() as Address;
  const all: Offers["all"] = [];
  const seen = new Set<string>();
  for (const [at, given] of terms.entries()) {
    const read = offerTermsSchema.safeParse(given);
    if (!read.success) throw invalidInputFromZod(read.error, `listings.${at}`);
    const body = {
      payment_mode: "direct",
      ...given,
      agent_id: agent,
      endpoint: by.endpoint,
      issued_at: by.issuedAt,
    } as RecordBody;
    const listing = parseListing(body);
    const problem = offerProblem(listing, by.issuedAt, `listings.${at}.`);
    if (problem.issues.length > 0) throw new InvalidInputError(problem);
    const key = `${listing.capability} ${listing.payment_mode}`;
    if (seen.has(key)) {
      throw new InvalidInputError({ issues: [{ field: `listings.${at}`, message: `offers ${key} twice` }] });
    }
    seen.add(key);
    const record = await signRecord({ type: "listing", body, account: by.account });
    all.push({ offer: { listing, price: parseUsdc(listing.price_usdc) }, record });
  }

  const live = all.map(({ offer }) => offer).filter(({ listing }) => !listing.retired);
  return {
    all,
    live,
    find: (capability, mode) => {
      const offers = live.filter(({ listing }) => listing.capability === capability);
      const wanted =
        mode ?? (offers.some(({ listing }) => listing.payment_mode === "direct") ? "direct" : undefined);
      const offer = offers.find(({ listing }) => wanted === undefined || listing.payment_mode === wanted);
      if (offer) return offer;
      const modes = offers.map(({ listing }) => listing.payment_mode);
      throw new HireRefusedError({
        status: modes.length > 0 ? 409 : 404,
        code: modes.length > 0 ? "payment_mode_not_offered" : "not_offered",
        message:
          modes.length > 0 ? `${capability} is not offered as ${wanted}.` : `${capability} is not offered.`,
        field: modes.length > 0 ? "preferred_payment_mode" : "capability",
        hint:
          modes.length > 0 ? `It is offered as ${modes.join(", ")}.` : "GET /listings shows what is offered.",
      });
    },
  };
}
