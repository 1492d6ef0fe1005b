import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { runAllTests } from "../test.ts";

/** `npm run soak:relevant`: the long form of a test that runs with the others. */
export function registerSoakRelevant(program: Command): void {
  program
    .command("soak-relevant")
    .description(
      "Derive generated logs of all transfers. Make relevant logs of them, derive these too, and compare the results:\n" +
        "the digest at every tick, every row, every field.",
    )
    .option("--runs <count>", "how many logs of each kind", wholeNumber("--runs"), 1_000)
    .option("--seed <number>", "the same seed gives the same logs", wholeNumber("--seed"), 1)
    .action(async ({ runs, seed }: { runs: number; seed: number }) => {
      process.env.RELEVANT_RUNS = String(runs);
      process.env.RELEVANT_SEED = String(seed);
      process.exitCode = await runAllTests({ files: ["test/derive/relevant/relevant.test.ts"] });
    });
}
