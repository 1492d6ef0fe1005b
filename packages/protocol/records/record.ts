import type { LocalAccount } from "viem";
import { type Address, addressSchema } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { type Hex, isHex, toHex } from "../hex.ts";
import type { PyJson } from "../json/pythonJson.ts";
import {
  bodyWithout,
  canonicalBody,
  type RecordBody,
  recordBodyFromPyJson,
  recordBodyToPyJson,
} from "../json/recordBody.ts";
import { type RecoverPublicKey, recoverByNoble } from "../signatures/recoverPublicKey.ts";
import { recoverSigner } from "../signatures/recoverSigner.ts";
import { messageHash, signerOfText, textDigest } from "../signatures/signedText.ts";
import { addressOf, signHash } from "../signatures/signHash.ts";
import { bindBody } from "./binding.ts";
import type { LedgerName } from "./ledgerName.ts";

/** A statement by `signer`; `body` is kept exactly as it was signed. */
export type SignedRecord = { type: string; body: RecordBody; signer: Address; signature: Hex };

/** The form of a record type's name. A name that has this form may still be no known type. */
const RECORD_TYPE = /^[a-z][a-z0-9_.-]{0,63}$/;

/** keccak256 of the UTF-8 canonical body: the 32 bytes a wallet signs as a message. */
export function recordDigest(body: RecordBody): Hex {
  return toHex(textDigest(canonicalBody(body)));
}

/** The EIP-191 hash of {@link recordDigest}: what `ecrecover` and ERC-1271 `isValidSignature` are asked about. */
export function recordSigningHash(body: RecordBody): Hex {
  return toHex(messageHash(textDigest(canonicalBody(body))));
}

/** Who signs: a viem account, or the private key of one. */
export type RecordSigner = { account: LocalAccount } | { privateKey: Hex };

/** Signs a body as EIP-191 over the raw 32 bytes of {@link recordDigest}: 65 bytes r ‖ s ‖ v. */
export async function signBody(body: RecordBody, by: RecordSigner): Promise<Hex> {
  if ("account" in by) return by.account.signMessage({ message: { raw: recordDigest(body) } });
  return signHash(messageHash(textDigest(canonicalBody(body))), by.privateKey);
}

/** What a record says. All but listings and receipts are signed for one ledger (see `bindBody`). */
export type Statement =
  | { type: "listing" | "receipt"; body: RecordBody }
  | { type: string; ledger: LedgerName; body: RecordBody };

/**
 * Makes a signed record. `type` and `ledger` go into the signed body, except for a listing or a receipt.
 *
 * @example await signRecord({ type: "rating", ledger: "0x…", body: { receipt, side: "buyer", stars: 5 }, privateKey })
 * @throws InvalidInputError when the body has something that cannot be signed, or names another type or ledger
 */
export async function signRecord(statement: Statement & RecordSigner): Promise<SignedRecord> {
  const { type } = statement;
  const body = "ledger" in statement ? bindBody(statement.body, statement) : statement.body;
  const signature = await signBody(body, statement);
  const signer = "account" in statement ? statement.account.address : addressOf(statement.privateKey);
  return { type, body, signer: signer.toLowerCase() as Address, signature };
}

/**
 * The wallet that signed a body.
 *
 * Takes 65 bytes with v = 27, 28, 0 or 1, in hex of either case, because wallets differ in these. It refuses the
 * malleable twin (high s). So a signature has several spellings: never take its text for its identity.
 *
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 * @throws InvalidInputError naming `field` when `signature` has another form or is not a valid signature
 */
export function recoverBodySigner(
  body: RecordBody,
  signature: string,
  field = "signature",
  recover: RecoverPublicKey = recoverByNoble,
): Address {
  return recoverSigner(messageHash(textDigest(canonicalBody(body))), signature, field, recover);
}

/**
 * The wallet key that signed a body; null when none did. Never throws. It cannot check ERC-1271 wallets.
 *
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 * @param key the field of the body that holds this signature, if the body has one. The signature does not cover it
 */
export function signerOf(
  body: RecordBody,
  signature: string,
  recover: RecoverPublicKey = recoverByNoble,
  key?: string,
): Address | null {
  const known = recover.known?.get(body, signature, key);
  if (known !== undefined) return known;
  let signer: Address | null = null;
  try {
    signer = signerOfText(signedText(body, key), signature, recover);
  } catch {
    // The body cannot be signed.
  }
  recover.known?.add(body, { signature, key, signer });
  return signer;
}

/**
 * The text that a signature over a body covers.
 *
 * @param key as in {@link signerOf}
 * @throws InvalidInputError when the body has something that cannot be signed
 */
export function signedText(body: RecordBody, key?: string): string {
  return canonicalBody(key === undefined ? body : bodyWithout(body, key));
}

/** Whether `signer`'s wallet key signed the body: {@link signerOf}. */
export function isSignedBy(
  body: RecordBody,
  signature: string,
  signer: Address,
  recover?: RecoverPublicKey,
): boolean {
  return signerOf(body, signature, recover) === signer;
}

/** The payload of the ledger entry that carries the record. */
export function recordPayload(record: SignedRecord): { [key: string]: PyJson } {
  return {
    type: record.type,
    body: recordBodyToPyJson(record.body),
    signer: record.signer,
    signature: record.signature,
  };
}

/**
 * Reads a record out of an entry's payload. Checks the shape only: neither the signature nor the type's own rules.
 *
 * @throws InvalidInputError naming the field
 */
export function recordFromPayload(payload: PyJson): SignedRecord {
  if (payload === null || typeof payload !== "object" || Array.isArray(payload)) {
    throw new InvalidInputError({ issues: [{ field: "payload", message: "must be an object" }] });
  }
  const own = (key: string): PyJson | undefined => (Object.hasOwn(payload, key) ? payload[key] : undefined);
  const issues: { field: string; message: string }[] = [];
  const type = own("type");
  if (typeof type !== "string" || !RECORD_TYPE.test(type))
    issues.push({ field: "type", message: "must be a lower-case name of at most 64 characters" });
  const signer = addressSchema.safeParse(own("signer"));
  if (!signer.success) issues.push({ field: "signer", message: "must be 0x and 40 lower-case hex digits" });
  const signature = own("signature");
  if (!isHex(signature))
    issues.push({ field: "signature", message: "must be 0x and an even number of hex digits" });
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return {
    type: type as string,
    body: recordBodyFromPyJson(own("body") ?? null, "body"),
    signer: signer.data as Address,
    signature: signature as Hex,
  };
}
