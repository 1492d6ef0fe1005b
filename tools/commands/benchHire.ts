import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run bench:hire`: how much time a hire takes in addition to the seller's work. */
export function registerBenchHire(program: Command): void {
  program
    .command("bench-hire")
    .description("Measure what hire() adds to the seller's own time, direct and by escrow, on a local chain.")
    .option("--hires <count>", "hires of each kind", wholeNumber("--hires"), 100)
    .action(async ({ hires }: { hires: number }) => {
      const { benchHires } = await import("../bench/hire/benchHire.ts");
      for (const { what, median, p95 } of await benchHires({ hires })) {
        process.stdout.write(
          `${what.padEnd(28)} median ${median.toFixed(1)} ms   p95 ${p95.toFixed(1)} ms   (${hires} hires)\n`,
        );
      }
    });
}
