import type { Command } from "commander";
import type { MutateOptions } from "../mutation/mutate.ts";
import { subjects } from "../mutation/subjects.ts";

/** `npm run mutate`: changes the contracts in every small way, one at a time, and sees whether a test notices. */
export function registerMutate(program: Command): void {
  program
    .command("mutate")
    .description("Change the contracts in every small way, one at a time, and see whether a test notices.")
    .option("--file <name>", "only this source file, such as EscrowBook.sol")
    .option("--sample <n>", "only n mutants of each file, spread evenly over it", Number)
    .option("--match <text>", "only mutants whose id contains the text")
    .option("--again", "forget what an earlier run, broken off or not, found on the same contracts and tests")
    .option("--json", "print the outcome of every mutant as JSON")
    .action(async (options: MutateOptions, command: Command) => {
      const chosen = subjects.filter(({ file }) => options.file === undefined || file.endsWith(options.file));
      if (chosen.length === 0) command.error(`--file: there are ${subjects.map((s) => s.file).join(", ")}`);
      // Loads Hardhat, which --help should not wait for.
      const { mutate } = await import("../mutation/mutate.ts");
      process.exitCode = await mutate(chosen, options);
    });
}
