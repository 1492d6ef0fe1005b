import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type HireAnswer, hireAnswerSchema } from "tallystick-protocol/hire/hireAnswer";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { isSignedBy, signBody } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";

/** What a seller posts to a `callback_url` when a job has ended (SHP §7.2). */
export type Callback = { job_id: string } & (
  | { status: "completed"; answer: HireAnswer }
  | { status: "failed"; error: { code: string; message: string } }
);

/** What the seller signs: the job's id, and a hash of everything else, because the rest may contain floats. */
function signedPart(jobId: string, message: object): RecordBody {
  return { job_id: jobId, message_hash: jsonHash(message, "callback") };
}

/** Returns the message with the seller's `signature`, which is made like that of a record (EIP-191). */
export async function signCallback<Message extends { job_id: string }>(
  message: Message,
  account: LocalAccount,
): Promise<Message & { signature: string }> {
  return { ...message, signature: await signBody(signedPart(message.job_id, message), { account }) };
}

/**
 * Reads what came to a `callback_url`, and checks that the seller that was hired signed it. Anybody can post there.
 *
 * @param body the request's JSON
 * @param seller the agent_id of the listing that was hired
 * @throws InvalidInputError naming the field
 */
export function readCallback(body: unknown, seller: Address): Callback {
  const { signature, ...message } = Object(body) as { [key: string]: unknown };
  const { job_id: jobId, status, error, ...answer } = message;
  if (typeof jobId !== "string") throw invalid("job_id", "is required");
  if (typeof signature !== "string" || !isSignedBy(signedPart(jobId, message), signature, seller)) {
    throw invalid("signature", `is not a signature of ${seller} over this message`);
  }
  if (status === "failed") {
    const { code = "failed", message: text = "" } = Object(error) as { code?: unknown; message?: unknown };
    return { job_id: jobId, status, error: { code: String(code), message: String(text) } };
  }
  const read = hireAnswerSchema.safeParse({ ...answer, job_id: jobId });
  if (status !== "completed" || !read.success)
    throw invalid("status", "must be completed, with an answer, or failed");
  return { job_id: jobId, status, answer: read.data };
}

function invalid(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message }] });
}
