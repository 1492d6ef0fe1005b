import { openSync } from "node:fs";
import { runSigner } from "../../../services/settlement/signingKeys/runSigner.ts";

// A program that runs a signing command when it has no free file handles, and prints how that ended.
try {
  for (;;) openSync("/dev/null", "r");
} catch {
  // No handle is left.
}
const ended = await runSigner({ command: ["/bin/cat"], input: "{}\n", deadlineMs: 5_000 }).catch(
  ({ code }) => code,
);
await new Promise((resolve) => setTimeout(resolve, 50));
process.stdout.write(`${ended}\n`);
