import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { VerifiedLedger, VerifiedProof } from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import type { Chain, PublicClient, Transport } from "viem";
import { ledgerContractFault } from "./ledgerContractFault.ts";

/** The chain's data about a proof: the transaction that anchored its root, and the block. */
export type ConfirmedProof = { transaction: Hex; block: number };

/**
 * Checks a proof against the chain. The proof names its contract, so the contract must have the code of a released
 * AnchoredLedger; any other contract could answer anything. The contract must not have marked the ledger, whose
 * writer then signed two histories. The proof's writer must write the ledger now, or have written it at this size.
 * The contract must have accepted exactly this size and root. What counts is what the contract accepted, not who
 * signed the checkpoint. So this also confirms proofs of a later writer, and of a writer that is a contract.
 *
 * @param proof as `verifyProofBundle` gives it, with `leaveWriterToChain`
 * @param client a viem client of the chain that the proof names
 * @throws ProofError when the chain says otherwise; TallystickError `chain_unavailable` when it cannot be
 * asked
 *
 * @example
 * const proof = verifyProofBundle(parseProofBundle(text), { leaveWriterToChain: true });
 * await confirmProof(proof, createPublicClient({ transport: http(rpcUrl) }));
 */
export async function confirmProof(
  { ledger, transaction, checkpoint }: VerifiedProof,
  client: PublicClient<Transport, Chain | undefined>,
): Promise<ConfirmedProof> {
  if (ledger === null) {
    throw new ProofError(
      "The proof has no signature of a ledger's writer: the ledger is not anchored, or the entry was not anchored yet. Get a newer proof.",
    );
  }
  if (transaction === null) {
    throw new ProofError("The entry was not anchored when the proof was made. Get a newer proof.");
  }
  try {
    const chainId = await client.getChainId();
    if (chainId !== ledger.chainId)
      throw new ProofError(`The RPC leads to chain ${chainId}; the proof is about chain ${ledger.chainId}.`);
    const { contract: address, id } = ledger;
    const fault = await ledgerContractFault(client, { chainId, address });
    if (fault !== null) throw new ProofError(fault);
    await requireUnmarked(address, id, client);
    await requireWriter(ledger, checkpoint.size, client);
    const { logs, status, blockNumber } = await client.getTransactionReceipt({ hash: transaction });
    const { anchorsIn } = await import("./anchorsIn.ts");
    const isIt = anchorsIn(logs).some(
      ({ address, args }) =>
        address.toLowerCase() === ledger.contract &&
        args.ledgerId === ledger.id &&
        args.newSize === BigInt(checkpoint.size) &&
        args.root === toHex(checkpoint.root),
    );
    if (status !== "success" || !isIt)
      throw new ProofError(`Transaction ${transaction} did not anchor the checkpoint's size and root.`);
    return { transaction, block: Number(blockNumber) };
  } catch (cause) {
    if (cause instanceof ProofError) throw cause;
    if ((cause as Error).name === "TransactionReceiptNotFoundError") {
      throw new ProofError(
        `The chain has no transaction ${transaction}: a reorganization removed it, or it never existed.`,
      );
    }
    const message = `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`;
    throw new TallystickError({ code: "chain_unavailable", message, hint: "Check the RPC.", cause });
  }
}

/** A marked ledger has a second history, and the proved entry may be missing there. */
async function requireUnmarked(
  contract: VerifiedLedger["contract"],
  id: Hex,
  client: PublicClient<Transport, Chain | undefined>,
): Promise<void> {
  const { anchoredLedgerAbi } = await import("tallystick-protocol/abi/anchoredLedgerAbi");
  const target = { address: contract, abi: anchoredLedgerAbi } as const;
  if (await client.readContract({ ...target, functionName: "isEquivocated", args: [id] }))
    throw new ProofError("The contract has marked the ledger: its writer signed two histories.");
}

/** A former writer counts only up to the size at which it was replaced. */
async function requireWriter(
  { contract, id, writer }: VerifiedLedger,
  size: number,
  client: PublicClient<Transport, Chain | undefined>,
): Promise<void> {
  const { anchoredLedgerAbi } = await import("tallystick-protocol/abi/anchoredLedgerAbi");
  const target = { address: contract, abi: anchoredLedgerAbi } as const;
  const now = await client.readContract({ ...target, functionName: "writerOf", args: [id] });
  if (now.toLowerCase() === writer) return;
  const args = [id, writer] as const;
  const [lastSize, until] = await client.readContract({ ...target, functionName: "formerWriter", args });
  if (until === 0n) throw new ProofError(`${writer} does not write the ledger, and never did.`);
  if (BigInt(size) > lastSize) {
    throw new ProofError(
      `${writer} wrote the ledger up to ${lastSize} entries, and the proof is about ${size}.`,
    );
  }
}
