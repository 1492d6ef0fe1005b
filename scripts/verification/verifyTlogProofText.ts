import { InvalidInputError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { parseTlogProof, verifyTlogProof } from "tallystick-protocol/proof/tlogProof";
import { readPolicy } from "./readPolicy.ts";

/**
 * The result of verifying a `.tlog-proof` file. `witnesses`: the policy's witnesses that cosigned, and when,
 * in unix seconds.
 */
export type TlogProofResult = {
  valid: true;
  hash: string;
  index: number;
  task_id: string;
  type: unknown;
  size: number;
  root: Hex;
  origin: string;
  witnesses: { [name: string]: number };
};

/**
 * Verifies the text of a `.tlog-proof` file against a policy in C2SP's form.
 *
 * @throws ProofError naming the part that does not hold; InvalidInputError naming `--policy`, or a malformed
 * part of the file
 */
export async function verifyTlogProofText(text: string, policyFile?: string): Promise<TlogProofResult> {
  if (policyFile === undefined) {
    const message = "must be given for a .tlog-proof: the file itself cannot say whom to believe";
    throw new InvalidInputError({ issues: [{ field: "--policy", message }] });
  }
  const policy = await readPolicy(policyFile);
  const { entry, index, checkpoint, witnesses } = verifyTlogProof(parseTlogProof(text), policy);
  return {
    valid: true,
    hash: entry.currentHash,
    index,
    task_id: entry.taskId,
    type: entry.payload.type,
    size: checkpoint.size,
    root: toHex(checkpoint.root),
    origin: checkpoint.origin,
    witnesses: Object.fromEntries(witnesses),
  };
}

/** The result as lines for people. */
export function tlogProofAsText(file: string, result: TlogProofResult): string[] {
  const { hash, index, type, task_id, size, root, origin } = result;
  const witnesses = Object.entries(result.witnesses).map(
    ([name, time], at) =>
      `${at === 0 ? "witness " : "        "} ${name}, ${new Date(time * 1000).toISOString().slice(0, 19)}Z`,
  );
  return [
    `${file} holds.`,
    `entry    ${hash}`,
    `         number ${index}, type ${String(type)}, task ${task_id}`,
    `in       ${origin}, ${size} entries, root ${root}`,
    ...(witnesses.length > 0 ? witnesses : ["witness  none: the policy asks for none"]),
  ];
}
