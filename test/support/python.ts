import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Whether this machine has python3 for comparisons. Tests with the golden vectors do not need it. */
export const hasPython = spawnSync("python3", ["-c", "import json, hashlib"]).status === 0;

/** Runs python3 in the root of the repository, and returns its output. */
export function python(args: string[], input = ""): string {
  const result = spawnSync("python3", args, {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (result.status !== 0) throw new Error(`python3 ${args.join(" ")} failed: ${result.stderr}`);
  return result.stdout;
}
