import { readFile, stat } from "node:fs/promises";
import type { Command } from "commander";
import { askWallet } from "tallystick-protocol/erc1271/askWallet";
import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { headDigest } from "tallystick-protocol/note/headSignature";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import {
  parseProofBundle,
  type VerifiedProof,
  verifyProofBundle,
} from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import { TLOG_PROOF_HEADER } from "tallystick-protocol/proof/tlogProof";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { confirmProof } from "tallystick-sdk/proof/confirmProof";
import { createPublicClient } from "viem";
import { printResult } from "../cli/printResult.ts";
import { readAddress } from "../cli/readAddress.ts";
import { refuseOptions } from "../verification/refuseOptions.ts";
import { tlogProofAsText, verifyTlogProofText } from "../verification/verifyTlogProofText.ts";

type Options = {
  key?: string[];
  ledger?: string;
  writer?: string;
  rpcUrl?: string;
  policy?: string;
  json?: boolean;
};

/** `tallystick verify-proof FILE`: one entry of a ledger, offline, and against the chain when there is an RPC. */
export function registerVerifyProof(program: Command): void {
  program
    .command("verify-proof")
    .description(
      "Verify a .proof or .tlog-proof file: that an entry is in a ledger, and that the ledger is anchored, or witnessed.",
    )
    .argument("<file>", "as GET /v1/ledger/bundle or GET /v1/ledger/tlog-proof gives it")
    .option(
      "--key <vkey...>",
      "the ledger's verifier key, from a source other than the file; two while one replaces the other",
    )
    .option("--ledger <id>", "the ledger that the entry must be in, 0x and 64 hex digits")
    .option("--writer <address>", "who writes the ledger, from a source other than the file")
    .option("--rpc-url <url>", "ask this chain whether the root is anchored, and who writes the ledger")
    .option("--policy <file>", "for a .tlog-proof: the trusted logs and witnesses (C2SP tlog-policy)")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 0 when the proof holds, with 1 when it does not." +
        "\nGive --key, --ledger or --writer for a .proof, also with --rpc-url: a forger can" +
        "\nanchor a ledger of its own, and make a proof of it." +
        "\nThe ledger's id names its first writer. A later writer, or a contract as" +
        "\nwriter, is confirmed by --rpc-url, or by --writer if you know it (for a" +
        "\ncontract also give --key). Otherwise the exit code is 1.",
    )
    .action(async (file: string, options: Options) => {
      const text = await readText(file);
      if (text.startsWith(TLOG_PROOF_HEADER)) {
        const { key, ledger, writer, rpcUrl } = options;
        const others = { "--key": key, "--ledger": ledger, "--writer": writer, "--rpc-url": rpcUrl };
        refuseOptions(others, "a .tlog-proof: its --policy says whom to trust");
        const shown = await verifyTlogProofText(text, options.policy);
        printResult(options, shown, () => tlogProofAsText(file, shown));
        return;
      }
      refuseOptions({ "--policy": options.policy }, "a .proof: give --key, --ledger or --writer");
      const result = await verifyProofFile(file, options);
      printResult(options, result, () => asText(file, result));
    });
}

/**
 * The result of a proof file. `anchored` is null if no chain was asked. `writer_confirms`: whether the writer's own
 * signature over the root was confirmed. A writer's contract may not confirm it today: false. It is null if the
 * contract was not asked.
 */
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
  writer_confirms: boolean | null;
  key_given: boolean;
  anchored: { transaction: Hex; block: number } | null;
};

/**
 * Verifies a proof file.
 *
 * @throws ProofError with the part that does not hold; TallystickError `writer_unconfirmed`, `unreadable_file`,
 * `chain_unavailable`
 */
export async function verifyProofFile(file: string, options: Options = {}): Promise<ProofResult> {
  const text = await readText(file);
  const keys = options.key?.map((key) => parseVerifierKey(key, "--key"));
  const writer = options.writer === undefined ? undefined : readAddress(options.writer, "--writer");
  const leaveWriterToChain = options.rpcUrl !== undefined;
  const proof = verifyProofBundle(parseProofBundle(text), { keys, writer, leaveWriterToChain });
  if (options.ledger !== undefined && proof.ledger?.id !== options.ledger.toLowerCase()) {
    throw new ProofError(
      proof.ledger === null
        ? `Nothing in the proof is signed by the writer of ${options.ledger}. If the proof is of that ledger, get a new one when the entry is anchored.`
        : `The proof is of ledger ${proof.ledger.id}, not of ${options.ledger}.`,
    );
  }
  if (writer !== undefined && proof.ledger === null)
    throw new ProofError(
      `Nothing in the proof is signed by ${writer}. Get a new proof when the entry is anchored.`,
    );
  const client =
    options.rpcUrl === undefined
      ? undefined
      : createPublicClient({ transport: rpcTransport(options.rpcUrl) });
  const anchored = client === undefined ? null : await confirmProof(proof, client);
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
    writer_confirms:
      ledger?.word.by === "key" ? true : client === undefined ? null : await confirmsToday(proof, client),
    key_given: keys !== undefined,
    anchored,
  };
}

/** The largest proof file, in bytes. A longer file is refused without reading it. */
const MAX_PROOF_FILE_BYTES = 2 ** 28;

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_PROOF_FILE_BYTES) throw new Error(`it has ${size} bytes`);
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read: ${(cause as Error).message}`,
      hint: "Give the path of a file.",
      cause,
    });
  }
}

/** Asks a contract whether it confirms a signature today. An anchored root stays valid in any case. */
async function confirmsToday(
  { ledger, checkpoint: { size, root } }: VerifiedProof,
  client: Parameters<typeof askWallet>[0],
): Promise<boolean | null> {
  if (ledger === null) return null;
  const hash = headDigest({ ledgerId: ledger.id, size: BigInt(size), root: toHex(root) }, ledger);
  const question = { signer: ledger.writer, hash, signature: ledger.word.signature };
  return (await askWallet(client, question, ledger.contract)) === "yes";
}

function asText(file: string, result: ProofResult): string[] {
  const { hash, index, type, task_id, size, root, origin, ledger, writer, anchored, key_given } = result;
  const word =
    result.writer_confirms === true
      ? "who signed this size and root"
      : result.writer_confirms === null
        ? "a contract, which was not asked"
        : "a contract, which does not confirm its signature today; an anchored root stays valid";
  const lines = [
    `${file} holds.`,
    `entry    ${hash}`,
    `         number ${index}, type ${String(type)}, task ${task_id}`,
    `in       ${origin}, ${size} entries, root ${root}`,
    ...(ledger === null ? [] : [`ledger   ${ledger}`, `writer   ${writer}, ${word}`]),
    anchored
      ? `anchored in block ${anchored.block}, transaction ${anchored.transaction}`
      : "anchored not asked (--rpc-url)",
  ];
  if (!key_given) lines.push("The checkpoint's key is the file's own. Give --key to trust another source.");
  return lines;
}
