import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createPublicClient, http, parseEventLogs } from "viem";
import { anchoredLedgerAbi } from "../../protocol/abi/anchoredLedgerAbi.ts";
import { TallystickError } from "../../protocol/errors.ts";
import { type Hex, toHex } from "../../protocol/hex.ts";
import { parseVerifierKey } from "../../protocol/note/signedNote.ts";
import {
  ProofError,
  parseProofBundle,
  type VerifiedProof,
  verifyProofBundle,
} from "../../protocol/proof/proofBundle.ts";

type Options = { key?: string; ledger?: string; rpcUrl?: string; json?: boolean };

/** `tallystick verify-proof FILE`: one entry of a ledger, offline, and against the chain when there is an RPC. */
export function registerVerifyProof(program: Command): void {
  program
    .command("verify-proof")
    .description("Verify a .proof file: that an entry stands in a ledger, and that the ledger is anchored.")
    .argument("<file>", "a bundle as GET /v1/ledger/bundle gives it")
    .option("--key <vkey>", "the ledger's verifier key, from somewhere else than the file")
    .option("--ledger <id>", "the ledger it has to be of, 0x and 64 hex digits")
    .option("--rpc-url <url>", "ask this chain whether the root is anchored")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 0 when the proof holds, with 1 when it does not. Without --key, --ledger and --rpc-url it shows only" +
        "\nthat the file agrees with itself: a forger can make such a file of a ledger of their own.",
    )
    .action(async (file: string, options: Options) => {
      const result = await verifyProofFile(file, options);
      process.stdout.write(`${options.json ? JSON.stringify(result) : asText(file, result)}\n`);
    });
}

/** What a proof file comes to. `anchored` is null when no chain was asked. */
export type ProofResult = {
  valid: true;
  hash: string;
  index: number;
  task_id: string;
  type: unknown;
  size: number;
  root: Hex;
  origin: string;
  ledger: Hex | null;
  writer: Hex | null;
  key_given: boolean;
  anchored: { transaction: Hex; block: number } | null;
};

/**
 * Verifies a proof file.
 *
 * @throws ProofError with the part that does not hold; TallystickError `unreadable_file`, `chain_unavailable`
 */
export async function verifyProofFile(file: string, options: Options = {}): Promise<ProofResult> {
  const text = await readFile(file, "utf8").catch((cause: Error) => {
    const message = `${file} cannot be read: ${cause.message}`;
    throw new TallystickError({
      code: "unreadable_file",
      message,
      hint: "Give the path of a .proof file.",
      cause,
    });
  });
  const trusted = options.key === undefined ? undefined : parseVerifierKey(options.key, "--key");
  const proof = verifyProofBundle(parseProofBundle(text), trusted);
  if (options.ledger !== undefined && proof.ledger?.id !== options.ledger.toLowerCase()) {
    throw new ProofError(
      proof.ledger === null
        ? `Nothing in the proof is signed by the writer of ${options.ledger}. If it is of that ledger, get it again once the entry is anchored.`
        : `The proof is of ledger ${proof.ledger.id}, not of ${options.ledger}.`,
    );
  }
  const anchored = options.rpcUrl === undefined ? null : await findAnchor(proof, options.rpcUrl);
  const { entry, index, checkpoint, ledger } = proof;
  return {
    valid: true,
    hash: entry.currentHash,
    index,
    task_id: entry.taskId,
    type: entry.payload.type,
    size: checkpoint.size,
    root: toHex(checkpoint.root),
    origin: checkpoint.origin,
    ledger: ledger?.id ?? null,
    writer: ledger?.writer ?? null,
    key_given: trusted !== undefined,
    anchored,
  };
}

/** The anchor on chain with the checkpoint's size and root. */
async function findAnchor(
  { ledger, transaction, checkpoint }: VerifiedProof,
  rpcUrl: string,
): Promise<{ transaction: Hex; block: number }> {
  if (ledger === null) {
    throw new ProofError(
      "The proof carries no word of a ledger's writer: the ledger is not anchored, or the entry was not yet. Get a newer one.",
    );
  }
  if (transaction === null) {
    throw new ProofError("The entry was not anchored when the proof was made. Get a newer one.");
  }
  const client = createPublicClient({ transport: http(rpcUrl) });
  try {
    const chainId = await client.getChainId();
    if (chainId !== ledger.chainId) {
      throw new ProofError(
        `--rpc-url leads to chain ${chainId}; the proof is about chain ${ledger.chainId}.`,
      );
    }
    const { logs, status, blockNumber } = await client.getTransactionReceipt({ hash: transaction });
    const anchors = parseEventLogs({ abi: anchoredLedgerAbi, eventName: "Anchored", logs });
    const isIt = anchors.some(
      ({ address, args }) =>
        address.toLowerCase() === ledger.contract &&
        args.ledgerId === ledger.id &&
        args.newSize === BigInt(checkpoint.size) &&
        args.root === toHex(checkpoint.root),
    );
    if (status !== "success" || !isIt) {
      throw new ProofError(`Transaction ${transaction} did not anchor the checkpoint's size and root.`);
    }
    return { transaction, block: Number(blockNumber) };
  } catch (cause) {
    if (cause instanceof ProofError) throw cause;
    if ((cause as Error).name === "TransactionReceiptNotFoundError") {
      throw new ProofError(
        `The chain knows no transaction ${transaction}: a reorg undid it, or it never was.`,
      );
    }
    const message = `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`;
    throw new TallystickError({ code: "chain_unavailable", message, hint: "Check --rpc-url.", cause });
  }
}

function asText(file: string, result: ProofResult): string {
  const { hash, index, type, task_id, size, root, origin, ledger, writer, anchored, key_given } = result;
  const lines = [
    `${file} holds.`,
    `entry    ${hash}`,
    `         number ${index}, type ${String(type)}, task ${task_id}`,
    `in       ${origin}, ${size} entries, root ${root}`,
    ...(ledger === null ? [] : [`ledger   ${ledger}`, `writer   ${writer}, who signed this size and root`]),
    anchored
      ? `anchored in block ${anchored.block}, transaction ${anchored.transaction}`
      : "anchored not asked (--rpc-url)",
  ];
  if (!key_given) lines.push("The checkpoint's key is the file's own. Give --key to trust another source.");
  return lines.join("\n");
}
