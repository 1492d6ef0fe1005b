import * as z from "zod";
import type { Address } from "../address.ts";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import type { Hex } from "../hex.ts";
import { hireId } from "../hire/hireIds.ts";
import { type HireRequest, readHireRequest } from "../hire/hireRequest.ts";
import { jsonHash, paramsHash } from "../hire/paramsHash.ts";
import { readForeignJson } from "../json/foreignJson.ts";

/**
 * What a seller or a buyer shows an auditor: the hire as its buyer signed it, and what was delivered, each as
 * a JSON text. They are texts because nested JSON would be deeper and longer than the hire itself. Then a
 * buyer could send a hire that is too large to be shown.
 */
const disclosureSchema = z.object({ request: z.string(), result: z.string() });

export type Disclosure = z.infer<typeof disclosureSchema>;

/** The most bytes of a disclosure that an auditor reads. */
export const MAX_DISCLOSURE_BYTES = 32 * 1024 * 1024;

/** What the chain and the ledger say of the hire: its buyer and seller, and the hashes in its receipt. */
export type DisclosedHire = {
  seller: Address;
  buyer: Address;
  capability: string;
  hireId: Hex;
  paramsHash: Hex;
  resultHash: Hex;
};

/** The work of a hire. It is proved that the buyer asked for it, and that the seller signed its result. */
export type DisclosedWork = { request: HireRequest; params: { [key: string]: unknown }; result: unknown };

/** Writes a disclosure. */
export function writeDisclosure({ request, result }: { request: unknown; result: unknown }): Disclosure {
  return { request: JSON.stringify(request), result: JSON.stringify(result ?? null) };
}

/**
 * Checks a disclosure against what is known of the hire: the buyer's signature, both parties, the capability, the
 * hire id, and the hashes of params and result. Work that passes is what was asked for and delivered. It does not
 * matter who showed it (SHP §8.3.1).
 *
 * @throws InvalidInputError naming the field; TallystickError `unsupported_protocol`, `signature_required`
 */
export function readDisclosure(value: unknown, hire: DisclosedHire): DisclosedWork {
  const read = disclosureSchema.safeParse(value);
  if (!read.success) throw invalidInputFromZod(read.error);
  const { request, signed } = readHireRequest(readForeignJson(read.data.request), hire.seller);
  const result = readForeignJson(read.data.result);
  if (!signed || request.nonce === undefined) throw differs("request.signature", "a signature of its buyer");
  const facts: [field: string, actual: unknown, wanted: string][] = [
    ["request.seller_id", request.seller_id, hire.seller],
    ["request.buyer_id", request.buyer_id, hire.buyer],
    ["request.capability", request.capability, hire.capability],
    ["request.nonce", hireId(request.buyer_id, request.nonce), hire.hireId],
    ["request.params", paramsHash(request.params), hire.paramsHash],
    ["result", jsonHash(result, "result"), hire.resultHash],
  ];
  for (const [field, actual, wanted] of facts) if (actual !== wanted) throw differs(field, wanted);
  return { request, params: request.params, result };
}

function differs(field: string, wanted: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message: `must fit the hire: ${wanted}` }] });
}
