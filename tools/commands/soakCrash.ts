import type { Command } from "commander";

/** `npm run soak:crash`: the long form of the test that ends the settlement service at each of its writes. */
export function registerSoakCrash(program: Command): void {
  program
    .command("soak-crash")
    .description(
      "End the settlement service at each write to its disk, one run for each, and start it again on the files that are left.",
    )
    .option("--flows <count>", "how many random flows after the four fixed ones", "20")
    .option("--seed <number>", "the first random flow's seed", "1")
    .option("--seconds <count>", "how long at most", "Infinity")
    .action(async (options: { flows: string; seed: string; seconds: string }) => {
      // This loads Hardhat, which is slow, so --help does not wait for it.
      const { soakCrash } = await import("../bench/crash/soakCrash.ts");
      const end = performance.now() + 1_000 * Number(options.seconds);
      const { writes, endings, flows } = await soakCrash({
        flows: Number(options.flows),
        seed: Number(options.seed),
        isOver: () => performance.now() > end,
        onFlow: (sentence) => process.stderr.write(`${sentence}\n`),
      });
      process.stdout.write(`flows ${flows}\nwrites ${writes}\nendings survived ${endings}\n`);
    });
}
