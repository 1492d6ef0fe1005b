import { z } from "zod";
import { addressSchema } from "../address.ts";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";

/** `claimed`: the challenge was handed out; `verified`: the attestor saw it posted; `unclaimed` takes a claim back. */
export const claimStatusSchema = z.enum(["unclaimed", "claimed", "verified"], {
  error: 'must be "unclaimed", "claimed" or "verified"',
});

export type ClaimStatus = z.infer<typeof claimStatusSchema>;

/** The body of a `claim`: an attestor's word that a human behind an X account owns an agent (SHP §4.2). */
export const claimSchema = z.looseObject({
  agent_id: addressSchema,
  x_handle: z.string().regex(/^[A-Za-z0-9_]{1,15}$/, "must be an X handle without the @"),
  verification_hash: z.string().regex(/^(?:0x)?[0-9a-f]{64}$/, "must be 64 lower-case hex digits"),
  state: claimStatusSchema,
});

export type Claim = z.output<typeof claimSchema>;

/**
 * Reads the body of a claim.
 *
 * @throws InvalidInputError naming every field at fault, prefixed with `body.`
 */
export function parseClaim(body: RecordBody): Claim {
  const result = claimSchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}
