import type { Address } from "tallystick-protocol/address";
import type { SPAM_REASONS } from "tallystick-protocol/erc8004/responseFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import { verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import type { PostedOrNot } from "tallystick-sdk/erc8004/postFeedback";
import type { Posting } from "tallystick-sdk/erc8004/posting";
import { type PostResponseParameters, postResponse } from "tallystick-sdk/erc8004/postResponse";
import { requestBundle } from "tallystick-sdk/proof/requestBundle";
import { openPosting, type PostOptions } from "./openPosting.ts";

/** The options of the command line. */
export type RespondOptions = PostOptions & {
  agentId: number;
  feedbackClient: Address;
  index: number;
  verdict?: string;
  spam?: (typeof SPAM_REASONS)[number];
  detail?: string;
  knownBy?: string;
};

/**
 * Appends a verdict's proof, or a note of spam, to a feedback.
 *
 * @throws ProofError when the node's proof does not hold; else as `postResponse`
 */
export async function respond(
  options: RespondOptions,
  environment: { [name: string]: string | undefined },
): Promise<PostedOrNot> {
  const { agentId, feedbackClient, index, verdict, knownBy } = options;
  const posting = await openPosting(options, environment);
  if (posting.uri === undefined && knownBy === undefined) {
    const message =
      "is required without --uri: the node keeps files only for those who have an entry in its ledger";
    throw new InvalidInputError({ issues: [{ field: "--known-by", message }] });
  }
  const said: PostResponseParameters["said"] =
    verdict === undefined
      ? { spam: { reason: options.spam ?? "other", detail: options.detail ?? "" } }
      : { verdictProof: await verdictProof(posting, verdict) };
  return await postResponse({ ...posting, agentId, feedbackClient, index, said, knownBy });
}

async function verdictProof({ baseUrl, ledger }: Posting, hash: string) {
  const bundle = await requestBundle({ baseUrl, hash });
  const proof = verifyProofBundle(bundle, { leaveWriterToChain: true });
  if (proof.entry.currentHash === hash && (proof.ledger?.id ?? "local") === ledger) return bundle;
  throw new InvalidInputError({
    issues: [{ field: "--verdict", message: "is not the verdict that the node's proof shows" }],
  });
}
