import * as z from "zod";
import type { Address } from "../address.ts";
import { type Hex, isHex } from "../hex.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { type RecoverPublicKey, recoverByNoble } from "../signatures/recoverPublicKey.ts";
import { signerOf } from "./record.ts";

/** A signature inside a body: `0x` hex. 65 bytes for a wallet key, any length for a contract wallet. */
export const signatureSchema = z
  .string()
  .refine((text) => isHex(text) && text.length > 2, "must be 0x and an even number of hex digits")
  .transform((text) => text as Hex);

/**
 * Whether `body[key]` is `signer`'s EIP-191 signature over the body without that key. False when it is absent;
 * contract wallets are asked on chain, not here.
 *
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 */
export function checkNestedSignature(
  body: RecordBody,
  key: string,
  signer: Address,
  recover: RecoverPublicKey = recoverByNoble,
): boolean {
  const signature = Object.hasOwn(body, key) ? body[key] : undefined;
  return typeof signature === "string" && signerOf(body, signature, recover, key) === signer;
}
