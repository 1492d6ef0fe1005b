import type { Command } from "commander";

/** `npm run bench:gas`: what every verb of the contracts costs, against the goals and the committed snapshot. */
export function registerBenchGas(program: Command): void {
  program
    .command("bench-gas")
    .description(
      "Measure the gas of every verb on a local chain, with the plain test token, parties that hold tokens already, and signatures of keys.",
    )
    .option("--json", "print the figures as JSON")
    .option("--update", "make these figures the committed snapshot")
    .action(async ({ json = false, update = false }: { json?: boolean; update?: boolean }) => {
      // This loads Hardhat, which is slow, so --help does not wait for it.
      const { benchGas } = await import("../bench/gas/benchGas.ts");
      process.exitCode = await benchGas({ json, update });
    });
}
