import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Address, addressSchema } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { fromHex, type Hex, isHex, toHex } from "../hex.ts";
import type { PyJson } from "../json/pythonJson.ts";
import {
  canonicalBody,
  type RecordBody,
  recordBodyFromPyJson,
  recordBodyToPyJson,
} from "../json/recordBody.ts";
import { type RecoverPublicKey, recoverByNoble } from "../signatures/recoverPublicKey.ts";
import { recoverSigner } from "../signatures/recoverSigner.ts";

/** A statement by `signer`; `body` is kept exactly as it was signed. */
export type SignedRecord = { type: string; body: RecordBody; signer: Address; signature: Hex };

const EIP191_HASH_PREFIX = utf8ToBytes("\x19Ethereum Signed Message:\n32");

/** What a record's type may look like; which types there are is for the reader to know. */
const RECORD_TYPE = /^[a-z][a-z0-9_.-]{0,63}$/;

function bodyDigest(body: RecordBody): Uint8Array {
  return keccak_256(utf8ToBytes(canonicalBody(body)));
}

/** keccak256 of the UTF-8 canonical body: the 32 bytes a wallet signs as a message. */
export function recordDigest(body: RecordBody): Hex {
  return toHex(bodyDigest(body));
}

/** The EIP-191 hash of {@link recordDigest}: what `ecrecover` and ERC-1271 `isValidSignature` are asked about. */
export function recordSigningHash(body: RecordBody): Hex {
  return toHex(keccak_256(concatBytes(EIP191_HASH_PREFIX, bodyDigest(body))));
}

/** Who signs: a viem account, or the private key of one. */
export type RecordSigner = { account: LocalAccount } | { privateKey: Hex };

/** Signs a body as EIP-191 over the raw 32 bytes of {@link recordDigest}: 65 bytes r ‖ s ‖ v. */
export async function signBody(body: RecordBody, by: RecordSigner): Promise<Hex> {
  const account = "account" in by ? by.account : privateKeyToAccount(by.privateKey);
  return account.signMessage({ message: { raw: recordDigest(body) } });
}

/**
 * Makes a signed record.
 *
 * @example await signRecord({ type: "listing", body, privateKey })
 * @throws InvalidInputError when the body has something that cannot be signed
 */
export async function signRecord(
  parameters: { type: string; body: RecordBody } & RecordSigner,
): Promise<SignedRecord> {
  const account = "account" in parameters ? parameters.account : privateKeyToAccount(parameters.privateKey);
  const signature = await signBody(parameters.body, { account });
  const signer = account.address.toLowerCase() as Address;
  return { type: parameters.type, body: parameters.body, signer, signature };
}

/**
 * The wallet that signed a body.
 *
 * Takes 65 bytes with v = 27, 28, 0 or 1 and refuses the malleable twin (high s), so that one signature has one spelling.
 *
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 * @throws InvalidInputError naming `field` when these bytes are no such signature
 */
export function recoverBodySigner(
  body: RecordBody,
  signature: string,
  field = "signature",
  recover: RecoverPublicKey = recoverByNoble,
): Address {
  const hash = keccak_256(concatBytes(EIP191_HASH_PREFIX, bodyDigest(body)));
  return recoverSigner(hash, signature, field, recover);
}

/** Whose wallet key signed a body, from its {@link recordDigest}; undefined when these bytes are no such signature. */
export function signerOfDigest(
  digest: Hex,
  signature: string,
  recover: RecoverPublicKey = recoverByNoble,
): Address | undefined {
  try {
    const hash = keccak_256(concatBytes(EIP191_HASH_PREFIX, fromHex(digest, 32)));
    return recoverSigner(hash, signature, "signature", recover);
  } catch {
    return undefined;
  }
}

/**
 * Whether `signer`'s wallet key signed the body. Never throws on a bad signature; says nothing of ERC-1271 wallets.
 *
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 */
export function isSignedBy(
  body: RecordBody,
  signature: string,
  signer: Address,
  recover: RecoverPublicKey = recoverByNoble,
): boolean {
  try {
    return recoverBodySigner(body, signature, "signature", recover) === signer;
  } catch {
    return false;
  }
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
