import * as z from "zod";
import { type Address, addressSchema } from "../address.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import type { RecoverPublicKey } from "../signatures/recoverPublicKey.ts";
import { boundForm } from "./boundForm.ts";
import { checkNestedSignature, signatureSchema } from "./nestedSignature.ts";

/**
 * The body of an `endorsement`: one agent gives its word for another, for one capability or for the agent as a whole
 * (STEWARD). Of the bodies with the same endorser, agent and capability, the highest `issued_at` (unix seconds) counts.
 * A body with `revoked` withdraws the endorsement.
 * `agent_signature` is the endorsed agent's consent: an EIP-191 signature over the body without this field. The agent
 * signs the endorser's address too, so the agent chooses its endorsers. Otherwise a stranger with little trust could
 * endorse the agent. That could lower the average trust of the agent's endorsers, which the trust score uses. A
 * withdrawal needs no consent.
 */
const endorsementFields = {
  endorser: addressSchema,
  agent_id: addressSchema,
  capability: capabilitySchema.optional(),
  statement: z.string().max(500, "must have at most 500 characters").optional(),
  revoked: z.boolean().optional(),
  issued_at: z.int().min(0, "must be unix seconds"),
  agent_signature: signatureSchema.optional(),
};

const read = boundForm(endorsementFields);

export type Endorsement = ReturnType<typeof read>;

/**
 * Reads the body of an endorsement.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseEndorsement(body: RecordBody): Endorsement {
  return read(body);
}

/** Whether `agent_signature` is the endorsed agent's signature over all other fields of the body. */
export function checkEndorsedSignature(
  body: RecordBody,
  agent: Address,
  recover?: RecoverPublicKey,
): boolean {
  return checkNestedSignature(body, "agent_signature", agent, recover);
}
