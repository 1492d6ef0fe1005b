import type { Address } from "tallystick-protocol/address";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type ProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { checkReceipt } from "tallystick-protocol/records/receipt";
import { recordFromPayload } from "tallystick-protocol/records/record";
import { requestBundle } from "../proof/requestBundle.ts";
import { findFeedback, type PostedFeedback, receiptIn } from "./findFeedback.ts";
import type { Posting } from "./posting.ts";

/** A feedback, and how the chain and the node are reached. */
export type GivenFeedback = Posting & {
  /** These three name the feedback: `index` is its number among this client's feedback for the agent. */
  agentId: number;
  feedbackClient: Address;
  index: number;
};

/**
 * The proof of the receipt that a feedback names, from the node's ledger. The receipt must be of a hire between the
 * feedback's client and the agent that had the identity when the feedback was given.
 *
 * @throws InvalidInputError naming `index` if the feedback does not exist or names no receipt of such a hire;
 * ProofError; ServiceError `not_in_ledger`
 */
export async function receiptOfFeedback(parameters: GivenFeedback): Promise<ProofBundle> {
  const { client, registries, agentId, feedbackClient, index, ledger, baseUrl, fetch } = parameters;
  const block = await client.getBlockNumber({ cacheTime: 0 });
  const place = { agentId, client: feedbackClient, block, fromBlock: registries.fromBlock };
  const posted = await findFeedback(client, registries, place, (it) => it.index === BigInt(index));
  if (posted === undefined) refuse(`is no feedback of ${feedbackClient} for agent ${agentId}`);
  const hash = receiptIn(posted.uri);
  if (hash === undefined)
    refuse("is a feedback that names no receipt, so no verdict can be shown to be of its hire");
  const bundle = await requestBundle({ baseUrl, hash, fetch });
  const proof = verifyProofBundle(bundle, { leaveWriterToChain: true });
  if (proof.entry.currentHash !== hash || (proof.ledger?.id ?? "local") !== ledger)
    refuse("names a receipt for which the node gave the proof of something else");
  const record = recordFromPayload(proof.entry.payload);
  if (record.type !== "receipt") refuse(`names an entry that is no receipt, but of type ${record.type}`);
  const { buyer, agent_id: seller } = checkReceipt(record);
  if (buyer !== feedbackClient) refuse(`names a receipt of ${buyer}, and is by ${feedbackClient}`);
  const wallet = await walletThen(parameters, posted);
  if (wallet !== seller)
    refuse(`names a receipt of ${seller}, and agent ${agentId} had the wallet ${wallet}`);
  return bundle;
}

/** The identity's wallet when the feedback was given. If the RPC has no such old state, this is the present wallet. */
async function walletThen(
  { client, registries, agentId }: GivenFeedback,
  { block }: PostedFeedback,
): Promise<string> {
  const call = {
    address: registries.identity,
    abi: identityRegistryAbi,
    functionName: "getAgentWallet",
    args: [BigInt(agentId)],
  } as const;
  const wallet = await client
    .readContract({ ...call, blockNumber: block })
    .catch(() => client.readContract(call));
  return wallet.toLowerCase();
}

function refuse(message: string): never {
  throw new InvalidInputError({ issues: [{ field: "index", message }] });
}
