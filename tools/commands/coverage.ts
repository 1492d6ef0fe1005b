import type { Command } from "commander";

/** `npm run coverage`: which lines of the contracts their tests run. */
export function registerCoverage(program: Command): void {
  program
    .command("coverage")
    .description(
      "Run the contracts' tests on instrumented contracts, in a copy, and print which lines they ran.",
    )
    .action(async () => {
      // This loads Hardhat, which is slow, so --help does not wait for it.
      const { coverContracts } = await import("../lineCoverage/coverContracts.ts");
      process.exitCode = coverContracts();
    });
}
