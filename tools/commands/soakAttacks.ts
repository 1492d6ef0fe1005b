import type { Command } from "commander";
import { runAllTests } from "../test.ts";

/** `npm run soak:attacks`: plays all attacks. A test plays two of them. */
export function registerSoakAttacks(program: Command): void {
  program
    .command("soak-attacks")
    .description(
      "Play every attack of docs/independence.md onto one real chain. Two nodes follow it: one reads all transfers, the other\n" +
        "only those that matter. Both are compared with the derivation of the log. One attack meets a reorg. It takes some minutes.",
    )
    .option("--grep <text>", "only attacks whose names contain the text")
    .action(async ({ grep }: { grep?: string }) => {
      const files = ["test/indexer/equivalence/attacks.soak.ts"];
      process.exitCode = await runAllTests({ files, ...(grep !== undefined && { grep }) });
    });
}
