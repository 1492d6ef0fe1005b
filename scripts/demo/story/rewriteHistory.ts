import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { anchorTypedData } from "tallystick-protocol/ledger/anchor";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { BaseError, ContractFunctionRevertedError, encodeFunctionData } from "viem";
import { nodeProgram } from "../../processes/nodeProgram.ts";
import { actors } from "../actors.ts";
import type { DemoChain } from "../demoChain.ts";
import { rewriteLedger } from "../rewriteLedger.ts";
import type { DemoNode } from "../startDemoNode.ts";

/** The result of the attempt. */
export type RewriteResult = {
  /** The line that was changed, from 1. */
  line: number;
  /**
   * The results of `verify-ledger` for the real ledger, for the changed file, and for the file with new
   * hashes.
   */
  verifyLedger: { honest: string; edited: string; resealed: string };
  /** The transaction that should have anchored the new history, and why the contract refused it. */
  anchor: { transaction: Hex; refusedWith: string };
};

/** Names of `Rfc9162.Verdict`, in the order of the contract. */
const VERDICTS = [
  "Valid",
  "SizeAboveLimit",
  "SizeShrinks",
  "IndexOutsideTree",
  "ProofTooLong",
  "ProofTooShort",
  "OldRootMismatch",
  "RootMismatch",
];

/**
 * The operator changes one entry of a copy of its ledger, and `verify-ledger` names the line. Then it
 * computes all later hashes again, so that the file verifies again, and sends an anchor of it, signed with its
 * own key. The contract refuses the anchor.
 *
 * @throws TallystickError `demo_rewrite_passed` when any check accepts the lie
 */
export async function rewriteHistory(
  node: DemoNode,
  chain: DemoChain,
  signal: AbortSignal,
): Promise<RewriteResult> {
  const lines = (await readFile(node.ledgerFile, "utf8")).trimEnd().split("\n");
  const { line, edited, resealed } = rewriteLedger(lines, actors.rookie.address);
  const folder = path.dirname(node.logs);
  const write = async (name: string, content: string[]) => {
    const file = path.join(folder, name);
    await writeFile(file, `${content.join("\n")}\n`);
    return file;
  };
  const honest = await verifyLedger(node.ledgerFile, signal);
  check(honest.code === 0, `verify-ledger refuses the ledger as it is: ${honest.said}`);
  const before = await chain.anchoredHead();
  check(honest.said.includes(before.root), `verify-ledger gives another root than the chain: ${honest.said}`);
  const changed = await verifyLedger(await write("edited.jsonl", edited), signal);
  check(changed.code === 1, "verify-ledger accepts the changed ledger");
  check(
    new RegExp(`\\bline ${line}\\b`).test(changed.said),
    `verify-ledger does not name line ${line}: ${changed.said}`,
  );
  const perfect = await verifyLedger(await write("resealed.jsonl", resealed), signal);
  check(perfect.code === 0, `verify-ledger refuses a perfect chain: ${perfect.said}`);

  const anchor = await sendAnchor(node, chain, resealed, before);
  const after = await chain.anchoredHead();
  check(anchor.status === "reverted", "the contract took the anchor of a rewritten ledger");
  check(after.root === before.root && after.size === before.size, "the head on the chain has moved");
  return {
    line,
    verifyLedger: { honest: honest.said, edited: changed.said, resealed: perfect.said },
    anchor: { transaction: anchor.transaction, refusedWith: anchor.refusedWith },
  };
}

/** Sends an anchor of the rewritten tree, with the best proof that exists and the writer's signature. */
async function sendAnchor(
  node: DemoNode,
  chain: DemoChain,
  lines: string[],
  head: { size: number; seq: bigint },
): Promise<{ transaction: Hex; status: string; refusedWith: string }> {
  const { chainId, anchoredLedger } = node.deployment;
  const tree = new MerkleTree();
  for (const line of lines) tree.append(lineLeafHash(line));
  const newSize = BigInt(tree.size);
  const newRoot = toHex(tree.root());
  const proof = tree.consistencyProof(head.size).map(toHex);
  const message = { ledgerId: node.ledger, seq: head.seq + 1n, newSize, newRoot };
  const signature = await actors.operator.account.signTypedData(
    anchorTypedData(message, { chainId, contract: anchoredLedger }),
  );
  const call = {
    abi: anchoredLedgerAbi,
    functionName: "anchor",
    args: [node.ledger, newSize, newRoot, proof, signature],
  } as const;
  const { hash, status } = await chain.sendUnchecked(anchoredLedger, encodeFunctionData(call));
  const refusedWith = await chain.client
    .simulateContract({ ...call, address: anchoredLedger, account: actors.relayer.address })
    .then(() => "nothing", reasonOf);
  return { transaction: hash, status, refusedWith };
}

/** The contract's error with its arguments, such as `Inconsistent(OldRootMismatch, 50, 51)`. */
function reasonOf(error: unknown): string {
  const reverted =
    error instanceof BaseError && error.walk((it) => it instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError) || !reverted.data) return String(error);
  const { errorName, args = [] } = reverted.data;
  const shown = args.map((it, at) =>
    errorName === "Inconsistent" && at === 0 ? VERDICTS[Number(it)] : String(it),
  );
  return `${errorName}(${shown.join(", ")})`;
}

/** The command, as anybody would run it. */
async function verifyLedger(file: string, signal: AbortSignal): Promise<{ code: number; said: string }> {
  const child = spawn(
    process.execPath,
    nodeProgram("scripts/cli.ts", ["verify-ledger", path.basename(file)]),
    {
      cwd: path.dirname(file),
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    },
  );
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, said: `${out}${err}`.trim() };
}

function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new TallystickError({ code: "demo_rewrite_passed", message });
}
