import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { createProgress } from "../../scripts/cli/progress.ts";

/** What a transfer may cost in the derivation, in microseconds of processor time, and its share of a backfill. */
const MAX_MICROSECONDS = 5;
const MAX_SHARE_OF_BACKFILL = 0.1;
const MIN_TRANSFERS = 20_000;

/** `npm run bench:families`: the cost of funding families. */
export function registerBenchFamilies(program: Command): void {
  program
    .command("bench-families")
    .description(
      "Let a node read a generated chain (anvil, fetched by npx), derive its log with a sampling profiler on, and print\n" +
        "the cost of families: processor time for a transfer, and shares of the derivation and of the node's backfill.",
    )
    .option("--transfers <count>", "transfers in it, at least 20000", wholeNumber("--transfers"), 40_000)
    .option("--agents <count>", "agents, each with a listing", wholeNumber("--agents"), 1_000)
    .option("--json", "print JSON")
    .action(
      async ({ transfers, agents, json = false }: { transfers: number; agents: number; json?: boolean }) => {
        if (transfers < MIN_TRANSFERS)
          throw new Error(
            `--transfers must be at least ${MIN_TRANSFERS}: a shorter chain has almost no final block, so nothing would be backfilled.`,
          );
        const { benchFamilies } = await import("../bench/families/benchFamilies.ts");
        const figures = await benchFamilies({ transfers, agents, rings: [4, 8, 32, 128] }, createProgress());
        if (json) {
          process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
          return;
        }
        const { perTransfer, perReceipt, perEvent, ofDerivation, ofBackfill, backfillSeconds } = figures;
        const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
        const isMet = (is: boolean) => (is ? "met" : "MISSED");
        process.stdout.write(
          `\nfamilies, a transfer: ${perTransfer.toFixed(2)} µs (≤ ${MAX_MICROSECONDS}: ${isMet(perTransfer <= MAX_MICROSECONDS)}); a hire: ${perReceipt.toFixed(0)} µs\n` +
            `of the derivation: ${percent(ofDerivation)} of ${perEvent.toFixed(1)} µs an event\n` +
            (ofBackfill === null
              ? "of the backfill: this system does not report the processor time of a process\n"
              : `of the backfill: ${percent(ofBackfill)} of ${backfillSeconds} s (≤ ${percent(MAX_SHARE_OF_BACKFILL)}: ${isMet(ofBackfill <= MAX_SHARE_OF_BACKFILL)})\n`),
        );
      },
    );
}
