import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import { fromBase64, toBase64 } from "../base64.ts";
import { canonicalBody } from "../json/recordBody.ts";
import { actionHash, readAction } from "./action.ts";

/** The default validity of a token, in seconds: long enough to act, too short to pass the token on. */
export const TOKEN_LIFETIME_SECONDS = 60;

/** How far the clocks of two machines may differ, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;

const PREFIX = "tst_";
/** Separates tokens from the key's other signatures: a signature over a checkpoint is never a token. */
const CONTEXT = "tallystick settlement token v1\n";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const claimsSchema = z.strictObject({
  version: z.literal(1),
  /** The ledger that has the permission. */
  origin: z.string().min(1).max(256),
  /** The hash of the action that the token allows; see `actionHash`. */
  action_hash: hash,
  /** SHA-256 of the context that the agent gave with its request. */
  context_hash: hash,
  /** The ledger entry that records the permission, and its parent. One entry is one permission. */
  entry_hash: hash,
  parent_hash: hash,
  rule: z.string().min(1).max(64),
  /** Unix seconds. */
  issued_at: z.int().min(0),
  expires_at: z.int().min(0),
});

/** What a settlement token says. */
export type SettlementTokenClaims = z.output<typeof claimsSchema>;

/** Writes and signs a token: `tst_`, the claims and an Ed25519 signature over them, both in base 64. */
export function issueSettlementToken(
  claims: SettlementTokenClaims,
  sign: (message: Uint8Array) => Uint8Array,
): string {
  const text = canonicalBody(claims);
  return `${PREFIX}${urlSafe(toBase64(utf8ToBytes(text)))}.${urlSafe(toBase64(sign(utf8ToBytes(CONTEXT + text))))}`;
}

export type VerifySettlementTokenParameters = {
  token: string;
  /**
   * The action that is about to run, with its paths resolved. Make it from what will really run: do not pass on
   * the action for which the permission was asked.
   */
  action: unknown;
  /**
   * The service's Ed25519 key, 32 bytes, from `GET /v1/ledger/key` (`parseVerifierKeys`). When that list has two
   * keys, try both: a token that either key signed is valid.
   */
  publicKey: Uint8Array;
  /** The ledger's origin, so that a token of another service is not accepted. */
  origin: string;
  /** Unix seconds. */
  now: number;
  /**
   * Whether a permission (`entry_hash`) was used before. Without this function a token can be used again and again
   * until it expires.
   */
  isUsed?: (entryHash: string) => boolean;
};

/** The verdict. `reason` says what is wrong. */
export type TokenVerdict = { valid: true; claims: SettlementTokenClaims } | { valid: false; reason: string };

/**
 * Whether a token permits this very action now (swarm.at §8.2). Call it right before the action, in the program that
 * acts. The verdict depends only on the arguments. A bad `token` or `action` never makes it throw.
 *
 * @example
 * const { valid } = verifySettlementToken({ token, action, publicKey, origin, now: Math.floor(Date.now() / 1000) });
 */
export function verifySettlementToken(parameters: VerifySettlementTokenParameters): TokenVerdict {
  const { token, action, publicKey, origin, now, isUsed } = parameters;
  const no = (reason: string): TokenVerdict => ({ valid: false, reason });
  const read = readToken(token);
  if (!read) return no("is no settlement token");
  if (!isSigned(read, publicKey)) return no("is not signed by this service");
  const { claims } = read;
  if (claims.origin !== origin) return no(`is of another ledger, ${claims.origin}`);
  if (!(now < claims.expires_at)) return no("has expired");
  if (!(claims.issued_at <= now + CLOCK_TOLERANCE_SECONDS)) return no("is not valid yet");
  let own: string;
  try {
    own = actionHash(readAction(action));
  } catch {
    return no("cannot permit this, because it is not an action");
  }
  if (claims.action_hash !== own) return no("is for another action");
  if (isUsed?.(claims.entry_hash)) return no("was used before");
  return { valid: true, claims };
}

type ReadToken = { claims: SettlementTokenClaims; text: string; signature: Uint8Array };

function readToken(token: unknown): ReadToken | undefined {
  const match =
    typeof token === "string" && token.length < 4096 ? /^tst_([\w-]+)\.([\w-]+)$/.exec(token) : null;
  if (!match) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(standard(match[1] as string)));
    const claims = claimsSchema.parse(JSON.parse(text));
    // Only the canonical spelling is accepted. So one set of claims has only one text.
    if (canonicalBody(claims) !== text) return undefined;
    return { claims, text, signature: fromBase64(standard(match[2] as string)) };
  } catch {
    return undefined;
  }
}

function isSigned({ text, signature }: ReadToken, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, utf8ToBytes(CONTEXT + text), publicKey, { zip215: false });
  } catch {
    return false;
  }
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function standard(base64url: string): string {
  const base64 = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
