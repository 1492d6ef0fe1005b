import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

type Options = { data?: string; seed: number; resamples: number; json?: boolean };

/**
 * `npm run bench:dispatch`: what the choice between two models saves and loses, and which errors a shadow finds, on
 * public verdicts.
 */
export function registerBenchDispatch(program: Command): void {
  program
    .command("bench-dispatch")
    .description(
      "Measure policies of choosing a model, and divergence as a sign of wrong answers, on RouteLLM's verdicts on GSM8K and MMLU.",
    )
    .option("--data <folder>", "make the committed table again from RouteLLM's files in this folder first")
    .option("--seed <number>", "the seed for the halves and the resamples", wholeNumber("--seed"), 1)
    .option("--resamples <count>", "resamples of each bootstrap interval", wholeNumber("--resamples"), 1_000)
    .option("--json", "print JSON, with all curves")
    .action(async ({ data, json = false, ...options }: Options) => {
      const { formatTable, readTable, TABLE } = await import("../bench/dispatch/table.ts");
      if (data !== undefined) {
        const { buildTable } = await import("../bench/dispatch/buildTable.ts");
        writeFileSync(TABLE, formatTable(buildTable(data)));
      }
      const { measureDispatch } = await import("../bench/dispatch/measureDispatch.ts");
      const figures = measureDispatch(readTable(), options);
      const { printDispatch } = await import("../bench/dispatch/printDispatch.ts");
      process.stdout.write(json ? `${JSON.stringify(figures, null, 2)}\n` : printDispatch(figures));
    });
}
