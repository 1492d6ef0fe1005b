import { readFile } from "node:fs/promises";
import { InvalidInputError } from "tallystick-protocol/errors";
import { parseTrustPolicy, type TrustPolicy } from "tallystick-protocol/note/trustPolicy";

/**
 * Reads the policy file that `--policy` names (C2SP tlog-policy).
 *
 * @throws InvalidInputError naming `--policy`
 */
export async function readPolicy(file: string): Promise<TrustPolicy> {
  const text = await readFile(file, "utf8").catch((cause: Error) => {
    throw new InvalidInputError({
      issues: [{ field: "--policy", message: `cannot be read: ${cause.message}` }],
    });
  });
  return parseTrustPolicy(text, "--policy");
}
