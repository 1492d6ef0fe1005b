import * as z from "zod";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { proofBundleSchema } from "../proof/proofBundle.ts";
import { readProvenEntry } from "../proof/provenEntry.ts";
import { parseAuditVerdict } from "../records/auditVerdict.ts";
import { recordFromPayload } from "../records/record.ts";
import { type AccountId, accountIdSchema, formatAccountId } from "./accountId.ts";

/** What a response file calls itself. ERC-8004 says nothing of its form. */
export const RESPONSE_FORMAT = "tallystick/response/v1";

/** Why somebody says that a feedback is worth nothing. */
export const SPAM_REASONS = ["no_hire", "self_feedback", "same_owner", "duplicate", "other"] as const;

const spamSchema = z.strictObject({
  reason: z.enum(SPAM_REASONS, { error: `must be one of ${SPAM_REASONS.join(", ")}` }),
  detail: z.string().max(1_024, "must have at most 1,024 characters"),
});

/**
 * A response to a feedback: the proof of an audit's verdict on the hire behind it, or a note why it is spam. One of the two.
 */
export const responseFileSchema = z
  .strictObject({
    format: z.literal(RESPONSE_FORMAT),
    agentRegistry: accountIdSchema,
    agentId: z.int().min(0),
    clientAddress: accountIdSchema,
    feedbackIndex: z.int().min(1),
    verdict_proof: proofBundleSchema.optional(),
    spam: spamSchema.optional(),
  })
  .refine(({ verdict_proof, spam }) => (verdict_proof === undefined) !== (spam === undefined), {
    error: "must have verdict_proof or spam, and not both",
  });

export type ResponseFile = z.output<typeof responseFileSchema>;

/** Which feedback is meant: index n of a client is its n-th for the agent. */
export type FeedbackPlace = {
  agentRegistry: AccountId;
  agentId: number;
  client: AccountId["address"];
  index: number;
};

/** What is said of a feedback. */
export type ResponseContent =
  | { verdictProof: z.input<typeof proofBundleSchema> }
  | { spam: z.output<typeof spamSchema> };

/**
 * The content of a response file. The same word on the same feedback gives the same file.
 *
 * @throws InvalidInputError when the proof's entry is not a verdict of an audit
 */
export function responseContent(place: FeedbackPlace, said: ResponseContent): RecordBody {
  const { agentRegistry, agentId, client, index } = place;
  if ("verdictProof" in said) requireVerdict(said.verdictProof.entry);
  return {
    format: RESPONSE_FORMAT,
    agentRegistry: formatAccountId(agentRegistry),
    agentId,
    clientAddress: formatAccountId({ chainId: agentRegistry.chainId, address: client }),
    feedbackIndex: index,
    ...("spam" in said ? { spam: said.spam } : { verdict_proof: said.verdictProof }),
  };
}

function requireVerdict(line: string): void {
  const record = recordFromPayload(readProvenEntry(line).payload);
  if (record.type !== "audit_verdict") {
    const message = `must be an audit_verdict, and is ${record.type}`;
    throw new InvalidInputError({ issues: [{ field: "verdict_proof.entry", message }] });
  }
  parseAuditVerdict(record.body);
}

/**
 * Reads the content of a response file. Its proof is checked by `verifyProofBundle`.
 *
 * @throws InvalidInputError naming every field at fault
 */
export function parseResponseFile(content: unknown): ResponseFile {
  const parsed = responseFileSchema.safeParse(content);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  if (parsed.data.verdict_proof !== undefined) requireVerdict(parsed.data.verdict_proof.entry);
  return parsed.data;
}
