import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { base32 } from "../base32.ts";
import { type Hex, toHex } from "../hex.ts";

/**
 * The public id of a hire: keccak256 of buyer and nonce. It names the hire in the receipt and in the escrow's terms,
 * and is the nonce of the direct payment. So a hire can be paid only once, even if several payments are signed.
 * Without the nonce nobody can make the id of another buyer's hire.
 */
export function hireId(buyer: Address, nonce: string): Hex {
  return toHex(keccak_256(utf8ToBytes(`hire|${buyer}|${nonce}`)));
}

/**
 * The id under which buyer and seller look the hire up (`GET /jobs/{job_id}`). It is made of the secret nonce, and
 * cannot be computed from the public hire id. So nobody else can fetch the result.
 */
export function jobId(buyer: Address, nonce: string): string {
  return `job_${base32(sha256(utf8ToBytes(`job|${buyer}|${nonce}`))).slice(0, 26)}`;
}

/** The id of a receipt in answers (SHP §7.1), from the digest of its body. */
export function receiptId(digest: Hex): string {
  return `rcpt_${base32(sha256(utf8ToBytes(digest))).slice(0, 26)}`;
}
