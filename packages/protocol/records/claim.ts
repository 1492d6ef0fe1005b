import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";
import { signatureSchema } from "./nestedSignature.ts";

/** `claimed`: the challenge was issued; `verified`: the attestor saw the post; `unclaimed` withdraws a claim. */
export const claimStatusSchema = z.enum(["unclaimed", "claimed", "verified"], {
  error: 'must be "unclaimed", "claimed" or "verified"',
});

export type ClaimStatus = z.infer<typeof claimStatusSchema>;

/** An X account, without the @. */
export const xHandleSchema = z.string().regex(/^[A-Za-z0-9_]{1,15}$/, "must be an X handle without the @");

const statement = {
  agent_id: addressSchema,
  x_handle: xHandleSchema,
  verification_hash: z.string().regex(/^(?:0x)?[0-9a-f]{64}$/, "must be 64 lower-case hex digits"),
  state: claimStatusSchema,
};

/**
 * The body of a `claim`: an attestor states that a human behind an X account owns an agent (SHP §4.2).
 * `nonce`, `post_id` and `agent_signature` are its evidence: the challenge, the post, and the agent's
 * consent.
 */
const claimFields = {
  ...statement,
  nonce: z.string().max(128).optional(),
  post_id: z.string().max(20).optional(),
  agent_signature: signatureSchema.optional(),
};

const read = boundForms(claimFields, z.looseObject(statement));

export type Claim = ReturnType<typeof read>;

/**
 * Reads the body of a claim.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseClaim(body: RecordBody): Claim {
  return read(body);
}
