import * as z from "zod";
import { addressSchema } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { isCustomCapability } from "../capability.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "../errors.ts";
import { jsonHash, paramsHash } from "../hire/paramsHash.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { checkNestedSignature, signatureSchema } from "../records/nestedSignature.ts";
import { type RecordSigner, signBody } from "../records/record.ts";

/** The only version that has clarification (SHP §7.5). */
export const CLARIFY_PROTOCOL = "swarmwage/v0.4";

/** The longest brief, in bytes of UTF-8 (SHP §7.5.1). */
export const MAX_BRIEF_BYTES = 2048;

const brief = z.string().refine((text) => new TextEncoder().encode(text).length <= MAX_BRIEF_BYTES, {
  error: `must have at most ${MAX_BRIEF_BYTES} bytes`,
});

/**
 * The body of `POST {endpoint}/clarify` (SHP §7.5.1). The buyer makes `signature` in the same way as for a hire. As in
 * a hire, `seller_id` binds it to one seller, and `issued_at` (unix seconds) to a time.
 */
export const clarifyRequestSchema = z.looseObject({
  protocol: z.literal(CLARIFY_PROTOCOL),
  buyer_id: addressSchema,
  seller_id: addressSchema.optional(),
  capability: capabilitySchema,
  brief,
  params: z.record(z.string(), z.unknown()).default({}),
  max_price_usdc: priceUsdcSchema.optional(),
  max_latency_ms: z.int().min(1, "must be at least 1 millisecond").optional(),
  nonce: z.string().regex(/^0x[0-9a-f]{32,64}$/, "must be 0x and 32 to 64 lower-case hex digits"),
  issued_at: z.int().nonnegative().optional(),
  signature: signatureSchema.optional(),
});

export type ClarifyRequest = z.output<typeof clarifyRequestSchema>;

/** What a buyer sends before it signs. */
export type ClarifyTerms = Omit<z.input<typeof clarifyRequestSchema>, "protocol" | "signature">;

/**
 * What the signature covers. Hashes replace `brief` and `params`. The signature is made like that of a record, and
 * both may contain values that a record must not contain.
 */
function signedPart(request: { [key: string]: unknown }): RecordBody {
  const { params, brief: text, signature: _, ...rest } = request;
  return {
    ...rest,
    params_hash: paramsHash(params ?? {}),
    brief_hash: jsonHash(text, "brief"),
  } as RecordBody;
}

/** Signs a request as its buyer. */
export async function signClarifyRequest(terms: ClarifyTerms, by: RecordSigner): Promise<ClarifyRequest> {
  const given = Object.fromEntries(
    Object.entries({ params: {}, ...terms, protocol: CLARIFY_PROTOCOL }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const signature = await signBody(signedPart(given), by);
  const result = clarifyRequestSchema.safeParse({ ...given, signature });
  if (!result.success) throw invalidInputFromZod(result.error);
  return result.data;
}

/**
 * Reads a request. `signed` says whether the buyer signed it. An unsigned request may come from anybody.
 *
 * @throws InvalidInputError naming every wrong field, or `invalid_signature` when the signature is not the buyer's;
 * TallystickError `unsupported_protocol`, or `clarification_not_supported` for a standard capability, because its
 * schema leaves nothing to clarify
 */
export function readClarifyRequest(value: unknown): { request: ClarifyRequest; signed: boolean } {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInputError({ issues: [{ field: "", message: "must be a JSON object" }] });
  }
  if (Reflect.get(value, "protocol") !== CLARIFY_PROTOCOL) {
    throw new TallystickError({
      code: "unsupported_protocol",
      message: `protocol: must be ${CLARIFY_PROTOCOL}`,
      field: "protocol",
      hint: "Clarification needs this version. Only hires use the earlier version.",
    });
  }
  const result = clarifyRequestSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error);
  const request = result.data;
  if (!isCustomCapability(request.capability)) {
    throw new TallystickError({
      code: "clarification_not_supported",
      message: `${request.capability} is a standard capability: its schema says everything.`,
      field: "capability",
      hint: "Hire it.",
    });
  }
  if (request.signature === undefined) return { request, signed: false };
  const body = { ...signedPart(value as { [key: string]: unknown }), signature: request.signature };
  if (checkNestedSignature(body, "signature", request.buyer_id)) return { request, signed: true };
  throw new InvalidInputError({
    code: "invalid_signature",
    issues: [{ field: "signature", message: `is not a signature of ${request.buyer_id} over this request` }],
  });
}
