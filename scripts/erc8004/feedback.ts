import { InvalidInputError } from "tallystick-protocol/errors";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { type PostedOrNot, postFeedback } from "tallystick-sdk/erc8004/postFeedback";
import { nodeAt } from "../query/nodeQuery.ts";
import { openPosting, type PostOptions } from "./openPosting.ts";

/** What the command line says. */
export type FeedbackOptions = PostOptions & { agentId: number; allowUnanchored?: boolean };

/**
 * Posts feedback for a hire, by its id or its receipt's hash. By its id it has to be a hire that the node counted.
 *
 * @throws InvalidInputError naming `hire`; else as `postFeedback`
 */
export async function feedback(
  hire: string,
  options: FeedbackOptions,
  environment: { [name: string]: string | undefined },
): Promise<PostedOrNot> {
  const receiptHash = isLedgerHash(hire) ? hire : await receiptOf(hire, options);
  const posting = await openPosting(options, environment);
  const { agentId, allowUnanchored } = options;
  return await postFeedback({ ...posting, receiptHash, agentId, allowUnanchored });
}

async function receiptOf(id: string, options: PostOptions): Promise<string> {
  const { hire } = await nodeAt(options).graphql.hire({ id });
  const message = hire === null ? "is no hire that the node counted" : "has no receipt";
  const hash = hire?.receiptHash ?? undefined;
  if (hash === undefined) throw new InvalidInputError({ issues: [{ field: "hire", message }] });
  return hash;
}
