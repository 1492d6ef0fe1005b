import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import * as z from "zod";
import { addressSchema } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { hash32Schema } from "../hash32Schema.ts";
import { type Hex, toHex } from "../hex.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";

/** The most hires of one list of canaries. */
export const MAX_CANARIES = 64;

const canarySchema = z.strictObject({
  buyer: addressSchema,
  nonce: z.string().min(1, "must not be empty").max(128, "must have at most 128 characters"),
  truth: z.enum(["good", "bad"], { error: 'must be "good" or "bad"' }),
});

/** A hire that its operator arranged, and the verdict that its work deserves. */
export type Canary = z.infer<typeof canarySchema>;

/**
 * The body of an `audit_canary`. A first record has only the commitment, before the hires happen. A later record has
 * the same commitment and its content. So the operator cannot choose the true verdicts after it sees the auditors'
 * verdicts.
 */
const auditCanaryFields = {
  commitment: hash32Schema,
  reveal: z
    .strictObject({
      salt: hash32Schema,
      hires: z
        .array(canarySchema)
        .min(1, "must have at least one hire")
        .max(MAX_CANARIES, `must have at most ${MAX_CANARIES} hires`),
    })
    .optional(),
};

const read = boundForm(auditCanaryFields);

export type AuditCanary = ReturnType<typeof read>;

/** SHA-256 of the RFC 8785 bytes of `{hires, salt}`. */
export function canaryCommitment({ salt, hires }: { salt: string; hires: readonly Canary[] }): Hex {
  return toHex(sha256(utf8ToBytes(canonicalize({ salt, hires }) as string)));
}

/**
 * Reads the body of a commitment to canaries, or of its reveal.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`; `body.reveal` when it does not match the
 * commitment
 */
export function parseAuditCanary(body: RecordBody): AuditCanary {
  const canary = read(body);
  if (canary.reveal !== undefined && canaryCommitment(canary.reveal) !== canary.commitment) {
    const message = "must be the content whose SHA-256 is the commitment";
    throw new InvalidInputError({ issues: [{ field: "body.reveal", message }] });
  }
  return canary;
}
