import * as z from "zod";
import { addressSchema } from "../address.ts";
import { atomicSchema } from "../amount.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import { type InputIssue, InvalidInputError, invalidInputFromZod } from "../errors.ts";
import { hash32Schema } from "../hash32Schema.ts";
import { isHex, ZERO_HASH } from "../hex.ts";
import type { RecordBody } from "../json/recordBody.ts";
import type { RecoverPublicKey } from "../signatures/recoverPublicKey.ts";
import { toSeconds } from "./completedAt.ts";
import { checkNestedSignature, signatureSchema } from "./nestedSignature.ts";
import { paymentModeSchema } from "./paymentMode.ts";
import { isPlainReceipt } from "./plainReceipt.ts";
import type { SignedRecord } from "./record.ts";

/** A `completed_at` is unix seconds or an ISO 8601 instant with its zone, as existing SDKs send it. */
const completedAtSchema = z
  .union([z.int().min(0), z.string()])
  .refine((value) => toSeconds(value) !== undefined, {
    error: "must be unix seconds or an ISO 8601 time with a zone, like 2026-01-31T12:00:00Z",
  });

/** How many checks a list may have. */
const MAX_CHECKS = 256;

const checkListSchema = z
  .array(z.looseObject({ name: z.string().min(1).max(128), passed: z.boolean() }))
  .max(MAX_CHECKS);

/**
 * The result of each check by name. Existing SDKs send a list instead. If a name occurs in the list several times, it
 * passes only if all of them pass.
 */
const checksSchema = z.preprocess(
  (value) => {
    // For an object the list's schema would make an error, and that is slow.
    if (!Array.isArray(value)) return value;
    const list = checkListSchema.safeParse(value);
    if (!list.success) return value;
    const byName = new Map<string, boolean>();
    for (const { name, passed } of list.data) byName.set(name, passed && (byName.get(name) ?? true));
    return Object.fromEntries(byName);
  },
  z.record(z.string(), z.boolean(), {
    error: "must be true or false by name, or a list of {name, passed}",
  }),
);

/**
 * The body of a `receipt`: the seller's signed statement that a hire was completed and which transaction paid it (SHP
 * §7.1, §9.1). Unknown keys are kept: the body is stored as it was signed.
 *
 * `amount_usdc_atomic` is a decimal string of 10^-6 USDC, `latency_ms` milliseconds, `completed_at` unix seconds or
 * ISO. `params_hash` and `result_hash` are the `jsonHash` of what was asked for and what was delivered: audits check
 * against them (SHP §8.3).
 */
export const receiptSchema = z.looseObject({
  agent_id: addressSchema,
  buyer: addressSchema,
  capability: capabilitySchema,
  hire_id: z.string().min(1, "must not be empty").max(128, "must have at most 128 characters"),
  tx_hash: hash32Schema,
  log_index: z.int().min(0).optional(),
  amount_usdc_atomic: atomicSchema,
  network: z.string().min(1, "must not be empty").max(64, "must have at most 64 characters"),
  completed_at: completedAtSchema,
  protocol_version: z.string().min(1, "must not be empty").max(64, "must have at most 64 characters"),
  verification: z.looseObject({
    all_passed: z.boolean(),
    checks: checksSchema,
  }),
  payment_mode: paymentModeSchema.optional(),
  escrow_provider: z.string().max(64).nullish(),
  escrow_id: hash32Schema.nullish(),
  latency_ms: z.int().min(0).optional(),
  verification_version: z.string().min(1).max(64).optional(),
  payee: addressSchema.optional(),
  params_hash: hash32Schema.optional(),
  result_hash: hash32Schema.optional(),
  buyer_signature: signatureSchema.optional(),
});

/** A receipt after reading. Sign and store the original body. */
export type Receipt = z.output<typeof receiptSchema>;

/**
 * Reads the body of a receipt.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseReceipt(body: RecordBody): Receipt {
  if (isPlainReceipt(body)) return body as unknown as Receipt;
  const result = receiptSchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}

/** When the seller says that the hire was completed, in unix seconds (fractions of a second dropped). */
export function completedAtSeconds(receipt: Receipt): number {
  const seconds = toSeconds(receipt.completed_at);
  if (seconds === undefined) {
    throw new InvalidInputError({ issues: [{ field: "body.completed_at", message: "is not a time" }] });
  }
  return seconds;
}

/** Whether this receipt claims no payment: the seller worked for free (SHP §11). */
export function isFreeReceipt(receipt: Receipt): boolean {
  return receipt.amount_usdc_atomic === "0";
}

/** Whether the buyer confirmed the receipt: `buyer_signature` is its signature over the body without this field. */
export function checkBuyerSignature(body: RecordBody, recover?: RecoverPublicKey): boolean {
  const { buyer } = body;
  return isHex(buyer, 20) && checkNestedSignature(body, "buyer_signature", buyer, recover);
}

/**
 * The rules of a receipt that need neither a clock nor a chain: the seller signs, nobody hires itself, a free receipt
 * has the zero tx_hash (SHP §11). Returns the faults; empty when there are none.
 */
export function receiptIssues(record: SignedRecord, receipt: Receipt): InputIssue[] {
  const issues: InputIssue[] = [];
  if (record.signer !== receipt.agent_id) {
    issues.push({ field: "signer", message: `must be the agent itself, ${receipt.agent_id}` });
  }
  if (receipt.buyer === receipt.agent_id) {
    issues.push({ field: "body.buyer", message: "must not be the seller: hiring oneself is not a hire" });
  }
  if (isFreeReceipt(receipt) && receipt.tx_hash !== ZERO_HASH) {
    issues.push({ field: "body.tx_hash", message: "must be 32 zero bytes when amount_usdc_atomic is 0" });
  }
  return issues;
}

/**
 * Reads a receipt record and applies {@link receiptIssues}.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function checkReceipt(record: SignedRecord): Receipt {
  const receipt = parseReceipt(record.body);
  const issues = receiptIssues(record, receipt);
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return receipt;
}
