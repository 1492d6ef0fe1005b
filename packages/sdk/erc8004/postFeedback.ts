import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { type FeedbackFile, feedbackContent, readHire } from "tallystick-protocol/erc8004/feedbackFile";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { type JsonFile, writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { parseEventLogs, type TransactionReceipt } from "viem";
import { checkPayment } from "./checkPayment.ts";
import { findFeedback, receiptFragment } from "./findFeedback.ts";
import { askJson, keepFile, type Posting, uriOf } from "./posting.ts";
import type { GasCost } from "./quoteGas.ts";
import { requireRegistries } from "./registries.ts";
import { sendOnce } from "./sendOnce.ts";

export type PostFeedbackParameters = Posting & {
  /** The entry hash of the receipt. `account` is the hire's buyer, and has rated the hire in the node's ledger. */
  receiptHash: string;
  /** The seller's number in the identity registry. */
  agentId: number;
  /**
   * Accepts a hire with entries that are not anchored. Then the chain cannot prove that the ledger had them.
   */
  allowUnanchored?: boolean | undefined;
};

/**
 * The outcome. `found`: the chain already had the feedback, so nothing was sent. `quoted`: the caller did not
 * agree to the cost, so nothing was stored or sent.
 */
export type PostedOrNot = {
  status: "posted" | "found" | "quoted";
  uri: string;
  hash: Hex;
  /** The text of the file that this call made. For `found` the posted file may have other proofs. */
  text: string;
  /** The feedback's number among this client's for the agent; absent when only the cost is known. */
  index?: number;
  transaction?: Hex;
  cost?: GasCost;
};

/**
 * Posts a buyer's feedback for a hire that it paid and rated, with a file that shows both.
 *
 * It asks the node for the proofs, checks them, and makes the file. The node keeps the file. Then it sends
 * `giveFeedback` with the stars as `starred` (20 for each star). A second call finds the feedback of the first, and
 * posts nothing.
 *
 * @throws InvalidInputError naming the part of the node's proofs that does not hold, or `payment` when the chain does
 * not have the payment; TallystickError `not_anchored_yet`, `not_the_agent`; ChainError, see {@link sendOnce};
 * ServiceError of the node
 */
export async function postFeedback(parameters: PostFeedbackParameters): Promise<PostedOrNot> {
  const { account, client, registries, receiptHash, agentId } = parameters;
  await requireRegistries(client, registries);
  const { file, read } = await makeFile(parameters);
  await requireAgent(parameters, read);
  const uri = uriOf(parameters, file, receiptFragment(receiptHash));
  const { value, valueDecimals, tag1, tag2 } = read;
  const isIt = (it: { hash: Hex; uri: string }) =>
    it.hash === file.hash || it.uri.endsWith(receiptFragment(receiptHash));
  // If the hire was paid on another chain, the whole registry is searched.
  const fromBlock = (await requirePayment(parameters, read)) ?? registries.fromBlock;
  const sent = await sendOnce({
    ...parameters,
    chainId: registries.chainId,
    call: {
      address: registries.reputation,
      abi: reputationRegistryAbi,
      functionName: "giveFeedback",
      args: [BigInt(agentId), BigInt(value), valueDecimals, tag1, tag2, "", uri, file.hash],
    },
    find: (block) =>
      findFeedback(
        client,
        registries,
        { agentId, client: read.clientAddress.address, block, fromBlock },
        isIt,
      ),
    agree: async (cost) => {
      if (!(await parameters.agree(cost))) return false;
      await keepFile({ ...parameters, account }, file, read.tallystick.rating);
      return true;
    },
  });
  if (sent.status === "quoted") return { status: "quoted", uri, ...file, cost: sent.cost };
  if (sent.status === "found") {
    const { index, transaction, uri: its, hash } = sent.found;
    return { status: "found", uri: its, hash, text: file.text, index: Number(index), transaction };
  }
  const { transactionHash: transaction } = sent.receipt;
  return { status: "posted", uri, ...file, index: indexIn(sent.receipt), transaction, cost: sent.cost };
}

async function makeFile(parameters: PostFeedbackParameters): Promise<{ file: JsonFile; read: FeedbackFile }> {
  const { account, agentId, receiptHash, registries, allowUnanchored = false } = parameters;
  const proofs = Object(await askJson(parameters, `/v1/erc8004/hire-proof?receipt=${receiptHash}`));
  const agentRegistry = { chainId: registries.chainId, address: registries.identity };
  const sources = {
    agentRegistry,
    agentId,
    receiptProof: proofs.receipt_proof,
    ratingProof: proofs.rating_proof,
  };
  const file = writeJsonFile(feedbackContent(sources));
  const checked = checkFeedbackFile(file.text, { hash: file.hash });
  const issues = checked.findings
    .filter(({ holds }) => holds === false)
    .map(({ field, detail }) => ({ field, message: detail }));
  if (issues.length > 0 || checked.file === undefined)
    throw new InvalidInputError({ code: "proof_invalid", issues });
  const read = checked.file;
  const { receipt, ledger, receipt_proof } = read.tallystick;
  if (receipt !== receiptHash) invalid("receipt", `the node answered for ${receipt}`);
  if (ledger !== parameters.ledger)
    invalid("ledger", `the node answered for ${ledger}, but ${parameters.ledger} was asked for`);
  if (read.clientAddress.address !== account.address.toLowerCase())
    invalid("account", `must be the hire's buyer, ${read.clientAddress.address}`);
  if (receipt_proof.anchor === null && !allowUnanchored) {
    throw new TallystickError({
      code: "not_anchored_yet",
      message: "The receipt and its rating are not anchored on the chain yet. Nothing was sent.",
      hint: "Call again after the ledger's next anchor; GET /v1/ledger/latest shows the state of anchoring.",
    });
  }
  return { file, read };
}

/** Checks that the identity's wallet is the seller's address. Otherwise the feedback would be about somebody else. */
async function requireAgent(
  { client, registries, agentId }: PostFeedbackParameters,
  read: FeedbackFile,
): Promise<void> {
  const wallet = await client
    .readContract({
      address: registries.identity,
      abi: identityRegistryAbi,
      functionName: "getAgentWallet",
      args: [BigInt(agentId)],
    })
    .then((it) => it.toLowerCase());
  const { seller } = read.tallystick;
  if (wallet === seller) return;
  throw new TallystickError({
    code: "not_the_agent",
    message: `Identity ${agentId} has the wallet ${wallet}, and the hire's seller is ${seller}. Nothing was sent.`,
    hint: "Name the seller's identity. The seller sets its wallet there by setAgentWallet.",
  });
}

/**
 * Checks the hire's payment, because feedback for an unpaid hire would convince nobody. What cannot be checked here
 * is left to those who verify the file.
 *
 * @returns the block of the payment, undefined when the RPC leads to another chain than that of the payment
 */
async function requirePayment(
  { client, registries: { chainId } }: PostFeedbackParameters,
  { tallystick: { receipt_proof: receiptProof, rating_proof: ratingProof } }: FeedbackFile,
): Promise<bigint | undefined> {
  const { receipt } = readHire({ receiptProof, ratingProof });
  const { finding, block } = await checkPayment(client, receipt, { chainId });
  if (finding.holds === false) invalid("payment", finding.detail);
  return block;
}

function indexIn({ logs }: TransactionReceipt): number {
  const [log] = parseEventLogs({ abi: reputationRegistryAbi, eventName: "NewFeedback", logs });
  return Number(log?.args.feedbackIndex ?? 0n);
}

function invalid(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
