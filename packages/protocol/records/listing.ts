import * as z from "zod";
import { type Address, addressSchema } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import { type InputIssue, InvalidInputError, invalidInputFromZod } from "../errors.ts";
import { isHex } from "../hex.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { type HttpAddress, readHttpAddress } from "../net/httpAddress.ts";
import type { RecoverPublicKey } from "../signatures/recoverPublicKey.ts";
import { checkNestedSignature, signatureSchema } from "./nestedSignature.ts";
import { paymentModeSchema } from "./paymentMode.ts";
import type { SignedRecord } from "./record.ts";

/** The longest endpoint address that a listing may carry, in characters. */
export const MAX_ENDPOINT_LENGTH = 2048;

/** The longest name that DNS has (RFC 1035 §2.3.4). The text of a URL could have a far longer name. */
const MAX_HOST_LENGTH = 253;

/**
 * The price of a listing is below 10^12 USDC. There is a limit because an index of prices has rows for each byte of a
 * price, and a listing may change its price at any time.
 */
const listingPriceSchema = priceUsdcSchema.refine(
  (text) => !/^[0-9]{13}/.test(text),
  "must have at most 12 digits before the point",
);

/**
 * Where an agent is reached: http or https, without user or password. The host is ASCII. A name in another script has
 * its form in DNS (`xn--…`), so that every platform reads the same host.
 */
export const endpointSchema = z
  .string()
  .max(MAX_ENDPOINT_LENGTH, `must have at most ${MAX_ENDPOINT_LENGTH} characters`)
  .refine(
    (text) => readHttpAddress(text) !== undefined,
    "must be an http or https address without user or password, with a host of ASCII letters, digits, hyphens and dots (other scripts as xn--…)",
  )
  .refine(hasShortHost, `must have a host of at most ${MAX_HOST_LENGTH} characters`);

/**
 * The body of a `listing`: a seller's signed advertisement of one capability (SHP §3, §6.2, §7.3.1).
 *
 * Unknown keys are kept: the body is stored as it was signed. `payment_mode` is `direct` and the flags are false when
 * absent. Among several listings of one agent, capability and mode the highest `issued_at` (unix seconds) wins.
 * `retired: true` takes the offer down.
 */
export const listingSchema = z.looseObject({
  agent_id: addressSchema,
  capability: capabilitySchema,
  price_usdc: listingPriceSchema,
  max_latency_ms: z.int().min(1, "must be at least 1 millisecond"),
  endpoint: endpointSchema,
  payment_mode: paymentModeSchema.default("direct"),
  first_call_free: z.boolean().default(false),
  payee: addressSchema.optional(),
  payee_signature: signatureSchema.optional(),
  verification_version: z.string().min(1).max(64).optional(),
  private_metrics: z.boolean().default(false),
  clarification_supported: z.boolean().default(false),
  audit: z.unknown().optional(),
  retired: z.boolean().default(false),
  issued_at: z.int().min(0, "must be unix seconds").optional(),
});

/** A listing with its defaults filled in, for reading. Sign and store the original body. */
export type Listing = z.output<typeof listingSchema>;

/**
 * The address of a valid endpoint.
 *
 * @throws Error for a text that {@link endpointSchema} refuses
 */
export function endpointAddress(endpoint: string): HttpAddress {
  const address = readHttpAddress(endpoint);
  if (address === undefined) throw new Error(`${JSON.stringify(endpoint)} is no endpoint.`);
  return address;
}

/**
 * Whether the host is short enough for DNS. There is a limit because hosts are part of database keys.
 */
function hasShortHost(text: string): boolean {
  return (readHttpAddress(text)?.hostname.length ?? 0) <= MAX_HOST_LENGTH;
}

/**
 * Reads the body of a listing.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseListing(body: RecordBody): Listing {
  const result = listingSchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}

/** Whether the endpoint uses TLS. Every published listing must use it (SHP §10). */
export function isHttpsEndpoint(listing: Listing): boolean {
  return readHttpAddress(listing.endpoint)?.isHttps === true;
}

const auditConsentSchema = z.strictObject({ operator: addressSchema });

/**
 * The operator whose audits the seller agrees to by this listing: `audit: {operator: "0x…"}`. Null for a retired
 * listing, and for a listing without `audit` or with an `audit` of another form. Existing listings may have such a
 * form (SHP §8.3).
 */
export function auditConsent(listing: Listing): Address | null {
  const consent = auditConsentSchema.safeParse(listing.audit);
  return consent.success && !listing.retired ? consent.data.operator : null;
}

/** The account that is paid: the named payee, or the agent itself. */
export function listingPayee(listing: Listing): Address {
  return listing.payee ?? listing.agent_id;
}

/**
 * Whether the payee consented: `payee_signature` must be the payee's signature over the body without this field. Also
 * true when no payee other than the agent is named, because then no consent is needed.
 */
export function checkPayeeSignature(body: RecordBody, recover?: RecoverPublicKey): boolean {
  const { payee } = body;
  if (payee === undefined || payee === body.agent_id) return true;
  return isHex(payee, 20) && checkNestedSignature(body, "payee_signature", payee, recover);
}

/**
 * Checks the one rule of a listing that needs only the record: its signer must be the agent itself. Returns the faults;
 * empty when there are none.
 */
export function listingIssues(record: SignedRecord, listing: Listing): InputIssue[] {
  const issues: InputIssue[] = [];
  if (record.signer !== listing.agent_id) {
    issues.push({ field: "signer", message: `must be the agent itself, ${listing.agent_id}` });
  }
  return issues;
}

/**
 * Reads a listing record and applies {@link listingIssues}.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function checkListing(record: SignedRecord): Listing {
  const listing = parseListing(record.body);
  const issues = listingIssues(record, listing);
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return listing;
}
