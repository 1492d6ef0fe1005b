import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { runAllTests } from "../test.ts";

type Options = { runs: number; seed: number; first: number; minutes?: number; results: string };

/** `npm run soak:index`: the long form of a test that is also part of the test suite. */
export function registerSoakIndex(program: Command): void {
  program
    .command("soak-index")
    .description(
      "Play generated logs onto a real chain, each with a reorg in it, and kill -9 a node in one of seven. Compare the nodes\n" +
        "that follow the chain, two nodes that read it late, the offline derivation and the oracle. A new chain begins\n" +
        "after 12 logs. From 50 logs on, a situation that no log reached is a failure. The results file has the sums of all\n" +
        "runs. Several runs may write to it at the same time.",
    )
    .option("--runs <count>", "how many logs", wholeNumber("--runs"), 24)
    .option("--seed <number>", "the same seed gives the same logs", wholeNumber("--seed"), 1)
    .option("--first <number>", "the number of the first log", wholeNumber("--first"), 0)
    .option("--minutes <count>", "begin no log after this time", wholeNumber("--minutes"))
    .option("--results <file>", "the file with the sums of all runs", ".tallystick/soak-index.jsonl")
    .action(async ({ runs, seed, first, minutes, results }: Options) => {
      process.env.SOAK_RUNS = String(runs);
      process.env.SOAK_SEED = String(seed);
      process.env.SOAK_FIRST = String(first);
      if (minutes !== undefined) process.env.SOAK_MINUTES = String(minutes);
      process.env.SOAK_RESULTS = results;
      process.exitCode = await runAllTests({ files: ["test/indexer/equivalence/equivalence.soak.ts"] });
    });
}
