import * as z from "zod";
import type { Address } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { anyCaseAddressSchema } from "../anyCaseAddress.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { checkNestedSignature, signatureSchema } from "../records/nestedSignature.ts";
import { paymentModeSchema } from "../records/paymentMode.ts";
import { type RecordSigner, signBody } from "../records/record.ts";
import { paramsHash } from "./paramsHash.ts";
import { isSignedVersion, requireHireProtocol } from "./protocolVersion.ts";

/** The longest callback URL, in characters. */
const MAX_URL_LENGTH = 2048;

/**
 * A nonce is 16 to 32 bytes of hex or, as clients of v0.1 send it, a UUID. Anyone who knows the nonce can fetch the
 * result. So only random UUIDs (version 4) are accepted. Other UUIDs follow from the time or from a name, and can be
 * guessed.
 */
const NONCE = /^(?:0x[0-9a-f]{32,64}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/;

/**
 * The body of `POST {endpoint}/hire` (SHP §7.1). Prices are decimal USDC, latencies milliseconds. `seller_id` binds the
 * request to one seller, `nonce` to one hire, and `issued_at` (unix seconds) to a time. Keys that are not in this
 * schema are kept and signed. Addresses may have upper and lower case. The signature covers the addresses as they were
 * sent.
 */
export const hireRequestSchema = z.looseObject({
  protocol: z.string(),
  buyer_id: anyCaseAddressSchema,
  seller_id: anyCaseAddressSchema.optional(),
  capability: capabilitySchema,
  params: z.record(z.string(), z.unknown()),
  max_price_usdc: priceUsdcSchema.optional(),
  max_latency_ms: z.int().min(1, "must be at least 1 millisecond").optional(),
  preferred_payment_mode: paymentModeSchema.nullish(),
  budget_token: z.unknown().optional(),
  callback_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_URL_LENGTH)
    .nullish(),
  quote_token: z.string().max(256).optional(),
  nonce: z
    .string()
    .regex(NONCE, "must be 0x and 32 to 64 lower-case hex digits, or a random (version 4) UUID in lower case")
    .optional(),
  issued_at: z.int().nonnegative().optional(),
  signature: signatureSchema.optional(),
});

export type HireRequest = z.output<typeof hireRequestSchema>;

/** A request before its buyer signs it. */
export type HireTerms = Omit<z.input<typeof hireRequestSchema>, "signature">;

/**
 * What the signature covers: everything except the signature. A hash replaces `params`, which may contain
 * floats.
 */
function signedPart(request: { [key: string]: unknown }): RecordBody {
  const { params, signature: _, ...rest } = request;
  return { ...rest, params_hash: paramsHash(params) } as RecordBody;
}

/** Signs a hire as its buyer: EIP-191 like a record, over the request with `params_hash` for `params` (SHP §12). */
export async function signHireRequest(terms: HireTerms, by: RecordSigner): Promise<HireRequest> {
  const given = Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
  // The addresses are sent in lower case, so they are signed in lower case.
  const read = hireRequestSchema.omit({ signature: true }).parse(given);
  return hireRequestSchema.parse({ ...read, signature: await signBody(signedPart(read), by) });
}

/** A request, and whether its buyer signed it. Only the payment shows who the buyer of an unsigned request is. */
export type ReadHireRequest = { request: HireRequest; signed: boolean };

/**
 * Reads the body of a hire: shape, version, and the signature when there is one. From v0.3 on a hire needs a signature
 * and a nonce (SHP §12).
 *
 * @param seller the owner of the endpoint that received the request. A request that is bound to another seller is
 * refused
 * @throws InvalidInputError naming every wrong field, or `invalid_signature`
 * @throws TallystickError `unsupported_protocol`, or `signature_required` when the version needs signature and nonce
 */
export function readHireRequest(value: unknown, seller: Address): ReadHireRequest {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInputError({ issues: [{ field: "", message: "must be a JSON object" }] });
  }
  requireHireProtocol(Reflect.get(value, "protocol"));
  const result = hireRequestSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error);
  const request = result.data;
  if (request.seller_id !== undefined && request.seller_id !== seller) {
    throw new InvalidInputError({
      issues: [{ field: "seller_id", message: `must be ${seller}, the address of this seller` }],
    });
  }
  return { request, signed: checkSignature(request, value as RecordBody) };
}

function checkSignature(request: HireRequest, value: RecordBody): boolean {
  if (request.signature === undefined || request.nonce === undefined) {
    if (!isSignedVersion(request.protocol)) return false;
    const field = request.nonce === undefined ? "nonce" : "signature";
    throw new TallystickError({
      code: "signature_required",
      message: `${field}: is required in a hire of ${request.protocol}`,
      field,
      hint: "Sign the hire and give it a fresh nonce, or send it as swarmwage/v0.2 and pay for it.",
    });
  }
  const { signature, ...rest } = value;
  const body = { ...signedPart(rest), signature: signature as string };
  if (checkNestedSignature(body, "signature", request.buyer_id)) return true;
  throw new InvalidInputError({
    code: "invalid_signature",
    issues: [{ field: "signature", message: `is not a signature of ${request.buyer_id} over this request` }],
  });
}
