import * as z from "zod";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { proofBundleSchema } from "../proof/proofBundle.ts";
import { readProvenEntry } from "../proof/provenEntry.ts";
import { type AuditVerdict, parseAuditVerdict } from "../records/auditVerdict.ts";
import { checkReceipt, type Receipt } from "../records/receipt.ts";
import { recordFromPayload } from "../records/record.ts";
import { type AccountId, accountIdSchema, formatAccountId } from "./accountId.ts";

/** The type of a response file. ERC-8004 does not define its form. */
export const RESPONSE_FORMAT = "tallystick/response/v1";

/** Why somebody says that a feedback is worth nothing. */
export const SPAM_REASONS = ["no_hire", "self_feedback", "same_owner", "duplicate", "other"] as const;

const spamSchema = z.strictObject({
  reason: z.enum(SPAM_REASONS, { error: `must be one of ${SPAM_REASONS.join(", ")}` }),
  detail: z.string().max(1_024, "must have at most 1,024 characters"),
});

/**
 * A response to a feedback, in one of two forms. The first form proves an audit's verdict on the hire, and the hire's
 * receipt. The second form is a note that says why the feedback is spam.
 */
export const responseFileSchema = z
  .strictObject({
    format: z.literal(RESPONSE_FORMAT),
    agentRegistry: accountIdSchema,
    agentId: z.int().min(0),
    clientAddress: accountIdSchema,
    feedbackIndex: z.int().min(1),
    verdict_proof: proofBundleSchema.optional(),
    receipt_proof: proofBundleSchema.optional(),
    spam: spamSchema.optional(),
  })
  .refine(({ verdict_proof, spam }) => (verdict_proof === undefined) !== (spam === undefined), {
    error: "must have verdict_proof or spam, and not both",
  })
  .refine(
    ({ verdict_proof, receipt_proof }) => (verdict_proof === undefined) === (receipt_proof === undefined),
    {
      error: "must have verdict_proof and receipt_proof together: the receipt shows which hire was judged",
    },
  );

export type ResponseFile = z.output<typeof responseFileSchema>;

/** Names one feedback. `index` counts the client's feedback for the agent, from 1. */
export type FeedbackPlace = {
  agentRegistry: AccountId;
  agentId: number;
  client: AccountId["address"];
  index: number;
};

/** What the response says of the feedback. */
export type ResponseContent =
  | { verdictProof: z.input<typeof proofBundleSchema>; receiptProof: z.input<typeof proofBundleSchema> }
  | { spam: z.output<typeof spamSchema> };

/**
 * The content of a response file. The same response to the same feedback always gives the same file.
 *
 * @throws InvalidInputError when the proofs do not prove a verdict and the receipt of the judged hire, or when the
 * feedback's client is not the buyer of that hire
 */
export function responseContent(place: FeedbackPlace, said: ResponseContent): RecordBody {
  const { agentRegistry, agentId, client, index } = place;
  if ("verdictProof" in said) requireSameHire(said.verdictProof.entry, said.receiptProof.entry, client);
  return {
    format: RESPONSE_FORMAT,
    agentRegistry: formatAccountId(agentRegistry),
    agentId,
    clientAddress: formatAccountId({ chainId: agentRegistry.chainId, address: client }),
    feedbackIndex: index,
    ...("spam" in said
      ? { spam: said.spam }
      : { verdict_proof: said.verdictProof, receipt_proof: said.receiptProof }),
  };
}

/**
 * Reads the content of a response file. It does not check the proofs: `verifyProofBundle` does.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function parseResponseFile(content: unknown): ResponseFile {
  const parsed = responseFileSchema.safeParse(content);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  const { verdict_proof, receipt_proof, clientAddress } = parsed.data;
  if (verdict_proof !== undefined && receipt_proof !== undefined)
    requireSameHire(verdict_proof.entry, receipt_proof.entry, clientAddress.address);
  return parsed.data;
}

/** A verdict answers only feedback for the hire that was judged, by that hire's buyer. */
function requireSameHire(verdictLine: string, receiptLine: string, client: AccountId["address"]): void {
  const verdict = recordFromPayload(readProvenEntry(verdictLine).payload);
  if (verdict.type !== "audit_verdict")
    refuse("verdict_proof.entry", `must be an audit_verdict, and is ${verdict.type}`);
  const record = recordFromPayload(readProvenEntry(receiptLine).payload);
  if (record.type !== "receipt") refuse("receipt_proof.entry", `must be a receipt, and is ${record.type}`);
  const [judged, receipt] = [parseAuditVerdict(verdict.body), checkReceipt(record)];
  if (receipt.buyer !== client)
    refuse("receipt_proof.entry", `must be of a hire by the feedback's client, and is by ${receipt.buyer}`);
  const other = otherHire(judged, receipt);
  if (other !== undefined) refuse("verdict_proof.entry", `must judge the hire of the receipt: ${other}`);
}

/** Why a verdict is about another hire than a receipt; undefined when no difference is found. */
function otherHire(verdict: AuditVerdict, receipt: Receipt): string | undefined {
  const { hire, params_hash, result_hash } = verdict;
  const [tx, log] = hire.split("-");
  if (typeof receipt.escrow_id === "string") {
    if (hire !== receipt.escrow_id) return `it judges ${hire}, and the receipt is of ${receipt.escrow_id}`;
  } else if (log === undefined || tx !== receipt.tx_hash)
    return `it judges ${hire}, and the receipt is of the transaction ${receipt.tx_hash}`;
  else if (receipt.log_index !== undefined && log !== String(receipt.log_index))
    return `it judges ${hire}, and the receipt is of log ${receipt.log_index} of that transaction`;
  // A transaction may pay for several hires, and a receipt need not name its log.
  if (params_hash !== receipt.params_hash) return "its params_hash is not the receipt's";
  return result_hash === receipt.result_hash ? undefined : "its result_hash is not the receipt's";
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
