import type { Address } from "tallystick-protocol/address";
import { writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { type ResponseContent, responseContent } from "tallystick-protocol/erc8004/responseFile";
import type { Hex } from "tallystick-protocol/hex";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import { readProvenEntry } from "tallystick-protocol/proof/provenEntry";
import { findResponse, type PostedResponse, verdictMark } from "./findResponse.ts";
import type { PostedOrNot } from "./postFeedback.ts";
import { keepFile, uriOf } from "./posting.ts";
import { type GivenFeedback, receiptOfFeedback } from "./receiptOfFeedback.ts";
import { requireRegistries } from "./registries.ts";
import { sendOnce } from "./sendOnce.ts";

export type PostResponseParameters = GivenFeedback & {
  /**
   * What the response says. A verdict must be on the hire whose receipt the feedback names. This call adds that
   * receipt's proof.
   */
  said: { verdictProof: ProofBundle } | Extract<ResponseContent, { spam: unknown }>;
  /** The hash of an entry of the node's ledger that the account signed. Not needed with a `uri`. */
  knownBy?: string | undefined;
};

/**
 * Appends a response to somebody's feedback: the proof of an audit's verdict, or a note why it is spam.
 * Anyone may do this. The same response is appended only once: a second call finds it.
 *
 * @throws InvalidInputError naming `index`, `verdict_proof.entry` or `receipt_proof.entry` when the verdict is not
 * on the hire that the feedback is about; else as `postFeedback`
 */
export async function postResponse(parameters: PostResponseParameters): Promise<PostedOrNot> {
  const { account, client, registries, agentId, feedbackClient, index, said, knownBy = "" } = parameters;
  await requireRegistries(client, registries);
  const agentRegistry = { chainId: registries.chainId, address: registries.identity };
  const content = "spam" in said ? said : { ...said, receiptProof: await receiptOfFeedback(parameters) };
  const file = writeJsonFile(
    responseContent({ agentRegistry, agentId, client: feedbackClient, index }, content),
  );
  // The proof of an entry changes while its ledger grows, so another file may say the same.
  const mark = "spam" in said ? "" : verdictMark(readProvenEntry(said.verdictProof.entry).currentHash);
  const isIt = (it: { hash: Hex; uri: string }) =>
    it.hash === file.hash || (mark !== "" && it.uri.endsWith(mark));
  const uri = uriOf(parameters, file, mark);
  const responder = account.address.toLowerCase() as Address;
  const place = { agentId, client: feedbackClient, index, responder };
  const sent = await sendOnce({
    ...parameters,
    chainId: registries.chainId,
    call: {
      address: registries.reputation,
      abi: reputationRegistryAbi,
      functionName: "appendResponse",
      args: [BigInt(agentId), feedbackClient, BigInt(index), uri, file.hash],
    },
    find: (block) => findResponse(client, registries, { ...place, block }, isIt),
    agree: async (cost) => {
      if (!(await parameters.agree(cost))) return false;
      await keepFile(parameters, file, knownBy);
      return true;
    },
  });
  if (sent.status === "quoted") return { status: "quoted", uri, ...file, cost: sent.cost };
  if (sent.status === "found") return { status: "found", text: file.text, ...shownOf(sent.found), index };
  const { transactionHash: transaction } = sent.receipt;
  return { status: "posted", uri, ...file, index, transaction, cost: sent.cost };
}

function shownOf({ uri, hash, transaction }: PostedResponse): Omit<PostedResponse, "block"> {
  return { uri, hash, transaction };
}
