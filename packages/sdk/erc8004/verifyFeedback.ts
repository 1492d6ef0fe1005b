import type { Address } from "tallystick-protocol/address";
import { askWallet } from "tallystick-protocol/erc1271/askWallet";
import {
  type CheckedFeedbackFile,
  type CheckFeedbackParameters,
  checkFeedbackFile,
} from "tallystick-protocol/erc8004/checkFeedbackFile";
import { type FeedbackFile, readHire } from "tallystick-protocol/erc8004/feedbackFile";
import { type Finding, finding, notChecked } from "tallystick-protocol/erc8004/finding";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { fileHash } from "tallystick-protocol/erc8004/jsonFile";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { VerifiedProof } from "tallystick-protocol/proof/proofBundle";
import { recordSigningHash, type SignedRecord } from "tallystick-protocol/records/record";
import { confirmProof } from "../proof/confirmProof.ts";
import { checkPayment } from "./checkPayment.ts";
import { findFeedback, type PostedFeedback, receiptIn } from "./findFeedback.ts";
import type { ChainReader, ChainRegistries } from "./registries.ts";

export type VerifyFeedbackParameters = CheckFeedbackParameters & {
  /** Reads the chain of the registries. Without it only what needs no network is checked. */
  client?: ChainReader | undefined;
  /** The addresses of the registries, if the caller knows them from a source other than the file. */
  registries?: ChainRegistries | undefined;
  /** The token that hires are paid with. */
  token?: Address | undefined;
  /** The escrow that may have held the money, for a hire in escrow mode. */
  escrow?: Address | undefined;
  /** Whether the file is a response to a feedback. Default: it is a feedback. */
  isResponse?: boolean | undefined;
};

/** The result of checking a feedback file. `valid` is false when at least one finding does not hold. */
export type VerifiedFeedback = {
  valid: boolean;
  hash: Hex;
  file?: FeedbackFile;
  /** The feedback on chain; absent when nobody looked, or it is not there. */
  posted?: PostedFeedback;
  findings: Finding[];
};

/**
 * Checks a feedback file: offline as `checkFeedbackFile` does, and with a client also against the chain. On
 * the chain, the ledger's root must be anchored, and the registry must have this feedback with this hash by
 * this client. The identity's wallet must have been the seller's at that time. The payment must have moved
 * this amount from the client to the agent.
 *
 * With `isResponse` it checks a response file. Its verdict and its receipt are checked offline. With a client, the check
 * also shows whether they are anchored. Strangers choose the form of their files, and a response shows no feedback. So a
 * response is not valid as a feedback, and a feedback is not valid as a response.
 *
 * A wrong finding does not throw. A finding with `holds: null` was not checked, and says why.
 *
 * @throws TallystickError `chain_unavailable`
 */
export async function verifyFeedback(
  text: string,
  parameters: VerifyFeedbackParameters = {},
): Promise<VerifiedFeedback> {
  const checked = checkFeedbackFile(text, parameters);
  const { file, proof, responseProofs } = checked;
  const hash = fileHash(text);
  let findings = [...checked.findings, ...wrongForm(checked, parameters)];
  let posted: PostedFeedback | undefined;
  if (file !== undefined && parameters.client === undefined)
    findings.push(
      ...["anchor", "event", "agentWallet", "payment"].map((it) => notChecked(it, "no chain was asked")),
    );
  const { client } = parameters;
  if (file !== undefined && client !== undefined) {
    const onChain = await fromChain(() => askChain(file, proof, hash, { ...parameters, client }));
    findings = [...findings.map((it) => onChain.wallets.get(it.field) ?? it), ...onChain.findings];
    posted = onChain.posted;
  }
  if (responseProofs !== undefined)
    findings.push(...(await fromChain(() => checkResponse(responseProofs, client))));
  const valid = findings.every(({ holds }) => holds !== false);
  return { valid, hash, ...(file && { file }), ...(posted && { posted }), findings };
}

/** The finding that the file is of the other form. */
function wrongForm(
  { file, responseProofs }: Pick<CheckedFeedbackFile, "file" | "responseProofs">,
  { isResponse = false }: VerifyFeedbackParameters,
): Finding[] {
  if (isResponse && file !== undefined)
    return [finding("format", false, "", "is a feedback, and not a response to one")];
  if (!isResponse && responseProofs !== undefined)
    return [finding("format", false, "", "is a response to a feedback, and shows no feedback")];
  return [];
}

/** Asks the chain. @throws TallystickError `chain_unavailable` */
export async function fromChain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof TallystickError) throw cause;
    const message = `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`;
    throw new TallystickError({ code: "chain_unavailable", message, hint: "Check the RPC.", cause });
  }
}

/**
 * Whether the entries that a response proves are anchored. Anybody may post a response, so its sender does not
 * matter.
 */
async function checkResponse(
  proofs: readonly [field: string, proof: VerifiedProof][],
  client: ChainReader | undefined,
): Promise<Finding[]> {
  const event = notChecked("event", "anybody may post a response; this does not look for it in the registry");
  const anchors = proofs.map(async ([field, proof]) => {
    const found =
      client === undefined ? notChecked("", "no chain was asked") : await checkAnchor(proof, client);
    return { ...found, field: `${field}.anchor` };
  });
  return [...(await Promise.all(anchors)), event];
}

type Asking = VerifyFeedbackParameters & { client: ChainReader };

async function askChain(
  file: FeedbackFile,
  proof: VerifiedProof | undefined,
  hash: Hex,
  parameters: Asking,
): Promise<{ findings: Finding[]; wallets: Map<string, Finding>; posted?: PostedFeedback }> {
  const { client, registries } = parameters;
  const wallets = new Map<string, Finding>();
  const { chainId } = file.agentRegistry;
  const asked = await client.getChainId();
  if (asked !== chainId) {
    const detail = `the RPC leads to chain ${asked}, and the file is about chain ${chainId}`;
    return { findings: [finding("agentRegistry.chain", false, "", detail)], wallets };
  }
  const hire = tryHire(file);
  if (hire === undefined) return { findings: [], wallets };
  await askWallets(client, hire, wallets);
  const findings = [await checkAnchor(proof, client)];
  const token = parameters.token;
  const paid = await checkPayment(client, hire.receipt, { chainId, token, escrow: parameters.escrow });
  const [known, why] = registriesOf(file, registries);
  if (known === undefined)
    return {
      findings: [...findings, notChecked("event", why), notChecked("agentWallet", why), paid.finding],
      wallets,
    };
  const { address } = file.clientAddress;
  const block = await client.getBlockNumber({ cacheTime: 0 });
  const posted = await findFeedback(
    client,
    known,
    { agentId: file.agentId, client: address, block, fromBlock: paid.block ?? known.fromBlock },
    (it) => it.hash === hash,
  );
  const event = await checkEvent(file, posted, known, client);
  const wallet = await checkWallet(file, hire.receipt.agent_id, posted, { client, registries: known });
  return { findings: [...findings, ...event, wallet, paid.finding], wallets, ...(posted && { posted }) };
}

function tryHire({ tallystick }: FeedbackFile) {
  try {
    return readHire({ receiptProof: tallystick.receipt_proof, ratingProof: tallystick.rating_proof });
  } catch {
    // The offline check has reported what is wrong with it.
    return undefined;
  }
}

/** Asks the chain about signers that are contract wallets, even if the signature looks like that of a key. */
async function askWallets(
  client: ChainReader,
  hire: NonNullable<ReturnType<typeof tryHire>>,
  into: Map<string, Finding>,
): Promise<void> {
  const records: [string, SignedRecord][] = [
    ["tallystick.receipt_proof.entry.signature", hire.receiptRecord],
    ["tallystick.rating_proof.entry.signature", hire.ratingRecord],
  ];
  for (const [field, { body, signer, signature }] of records) {
    const answer = await askWallet(client, { signer, hash: recordSigningHash(body), signature });
    if (answer === "no_contract") continue;
    into.set(
      field,
      finding(
        field,
        answer === "yes",
        `the contract ${signer} confirms it`,
        `the contract ${signer} does not confirm it`,
      ),
    );
  }
}

async function checkAnchor(proof: VerifiedProof | undefined, client: ChainReader): Promise<Finding> {
  if (proof === undefined) return notChecked("anchor", "the proof does not hold");
  if (proof.ledger === null)
    return notChecked("anchor", "the ledger is not anchored on a chain, or was not when the file was made");
  if (proof.transaction === null)
    return notChecked("anchor", "the entries were not anchored when the file was made");
  try {
    const { transaction, block } = await confirmProof(proof, client);
    return finding("anchor", true, `transaction ${transaction} in block ${block}`, "");
  } catch (error) {
    if ((error as TallystickError).code !== "proof_invalid") throw error;
    return finding("anchor", false, "", (error as Error).message);
  }
}

function registriesOf(
  { agentRegistry }: FeedbackFile,
  registries: ChainRegistries | undefined,
): [ChainRegistries | undefined, string] {
  const { chainId, address } = agentRegistry;
  if (registries === undefined)
    return [undefined, "the reputation registry is not known; name it (--registries)"];
  if (registries.chainId === chainId && registries.identity === address) return [registries, ""];
  return [
    undefined,
    `the file is about the registry ${address} of chain ${chainId}, and another one was named`,
  ];
}

async function checkEvent(
  file: FeedbackFile,
  posted: PostedFeedback | undefined,
  { reputation }: ChainRegistries,
  client: ChainReader,
): Promise<Finding[]> {
  const { agentId, clientAddress } = file;
  if (posted === undefined)
    return [
      finding(
        "event",
        false,
        "",
        `the registry has no feedback of this client with the file's hash for agent ${agentId}`,
      ),
    ];
  const { value, valueDecimals, tag1, tag2, index, transaction, uri } = posted;
  const { receipt } = file.tallystick;
  const [, , , , isRevoked] = await client.readContract({
    address: reputation,
    abi: reputationRegistryAbi,
    functionName: "readFeedback",
    args: [BigInt(agentId), clientAddress.address, index],
  });
  const same = (field: string, found: unknown, wanted: unknown) =>
    finding(`event.${field}`, found === wanted, String(found), `the chain says ${found}, the file ${wanted}`);
  return [
    finding("event", true, `feedback ${index} of ${clientAddress.address}, transaction ${transaction}`, ""),
    same("value", value, BigInt(file.value)),
    same("valueDecimals", valueDecimals, file.valueDecimals),
    same("tag1", tag1, file.tag1),
    same("tag2", tag2, file.tag2),
    same("receipt", receiptIn(uri) ?? receipt, receipt),
    finding("event.revoked", !isRevoked, "it stands", "its client has revoked it"),
  ];
}

/** Checks the identity's wallet at the time when the feedback was given, because identities can be sold. */
async function checkWallet(
  { agentId }: FeedbackFile,
  seller: Address,
  posted: PostedFeedback | undefined,
  { client, registries }: { client: ChainReader; registries: ChainRegistries },
): Promise<Finding> {
  if (posted === undefined) return notChecked("agentWallet", "the feedback was not found");
  const wallet = await client
    .readContract({
      address: registries.identity,
      abi: identityRegistryAbi,
      functionName: "getAgentWallet",
      args: [BigInt(agentId)],
      blockNumber: posted.block,
    })
    .catch(() => undefined);
  if (wallet === undefined)
    return notChecked("agentWallet", `the RPC does not say what was in block ${posted.block}`);
  const found = wallet.toLowerCase();
  const text = `identity ${agentId} had the wallet ${found}`;
  return finding("agentWallet", found === seller, text, `${text}, and the receipt is by ${seller}`);
}
