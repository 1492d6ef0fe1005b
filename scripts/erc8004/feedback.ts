import { InvalidInputError } from "tallystick-protocol/errors";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { type PostedOrNot, postFeedback } from "tallystick-sdk/erc8004/postFeedback";
import { listForm } from "tallystick-sdk/listForm";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { z } from "zod";
import { nodeAt } from "../query/nodeQuery.ts";
import { openPosting, type PostOptions } from "./openPosting.ts";

/** The identities that an agent has now. */
const CURRENT = `query CurrentIdentities($address: Address!) {
  agent(address: $address) { identities(current: true, first: 2) { nodes { identity { id } } } }
}`;

const currentForm = z.object({
  agent: z
    .object({
      identities: z.object({
        nodes: listForm(z.object({ identity: z.object({ id: z.string() }).nullable() }), 2),
      }),
    })
    .nullable(),
});

/** The options of the command line. */
export type FeedbackOptions = PostOptions & { agentId?: number; allowUnanchored?: boolean };

/**
 * Posts feedback for a hire, which is named by its id or its receipt's hash. An id must belong to a hire that the node
 * counted.
 *
 * @throws InvalidInputError naming `hire`; else as `postFeedback`
 */
export async function feedback(
  hire: string,
  options: FeedbackOptions,
  environment: { [name: string]: string | undefined },
): Promise<PostedOrNot> {
  const { receiptHash, seller } = isLedgerHash(hire)
    ? { receiptHash: hire, seller: undefined }
    : await receiptOf(hire, options);
  const posting = await openPosting(options, environment);
  const { allowUnanchored } = options;
  const agentId = options.agentId ?? (await identityOf(seller, options));
  return await postFeedback({ ...posting, receiptHash, agentId, allowUnanchored });
}

async function receiptOf(
  id: string,
  options: PostOptions,
): Promise<{ receiptHash: string; seller: string | undefined }> {
  const { hire } = await nodeAt(options).graphql.hire({ id });
  const message = hire === null ? "is no hire that the node counted" : "has no receipt";
  const receiptHash = hire?.receiptHash ?? undefined;
  if (receiptHash === undefined) throw new InvalidInputError({ issues: [{ field: "hire", message }] });
  return { receiptHash, seller: hire?.sellerAddress };
}

/** The seller's only identity, as the node has read it. `postFeedback` asks the registry again. */
async function identityOf(seller: string | undefined, options: PostOptions): Promise<number> {
  const found = seller === undefined ? [] : await identitiesOf(seller, options);
  const id = Number(found.length === 1 ? found[0]?.identity?.id : Number.NaN);
  if (Number.isSafeInteger(id)) return id;
  const why =
    found.length > 1 ? "the seller has several identities" : "the node knows no identity of the seller";
  throw new InvalidInputError({ issues: [{ field: "--agent-id", message: `is required: ${why}` }] });
}

async function identitiesOf(address: string, options: PostOptions) {
  const answer = await askGraphql({ baseUrl: options.url, query: CURRENT, variables: { address } });
  const what = "The node's answer about the seller's identities";
  return readServiceAnswer(currentForm, answer, { what }).agent?.identities.nodes ?? [];
}
