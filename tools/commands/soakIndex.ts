import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { runAllTests } from "../test.ts";

/** `npm run soak:index`: the long form of a test that is also part of the test suite. */
export function registerSoakIndex(program: Command): void {
  program
    .command("soak-index")
    .description(
      "Play generated logs onto a real chain, each with a reorg and a kill -9 in it, and hold the nodes that follow it,\n" +
        "the offline derivation and the oracle to one another.",
    )
    .option("--runs <count>", "how many logs", wholeNumber("--runs"), 20)
    .option("--seed <number>", "which: the same seed gives the same logs", wholeNumber("--seed"), 1)
    .action(async ({ runs, seed }: { runs: number; seed: number }) => {
      process.env.EQUIVALENCE_RUNS = String(runs);
      process.env.EQUIVALENCE_SEED = String(seed);
      process.exitCode = await runAllTests({ files: ["test/indexer/equivalence/*.test.ts"] });
    });
}
