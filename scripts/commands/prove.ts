import type { Command } from "commander";
import { properties } from "../proofs/properties.ts";

/** `npm run prove`: proves every property in scripts/proofs/properties.ts, and that it finds the bugs planted for it. */
export function registerProve(program: Command): void {
  program
    .command("prove")
    .description("Prove the bookkeeping of the contracts, and that the proofs find bugs planted for them.")
    .option("--only <contract>", "only the property of this harness contract, such as PartsAddUp")
    .option("--json", "print every assertion and planted bug as JSON")
    .action(async ({ only, json = false }: { only?: string; json?: boolean }, command: Command) => {
      const chosen = properties.filter(({ contract }) => only === undefined || contract === only);
      if (chosen.length === 0)
        command.error(`--only: there are ${properties.map((p) => p.contract).join(", ")}`);
      // Loads Hardhat, which --help should not wait for.
      const { prove } = await import("../proofs/prove.ts");
      process.exitCode = await prove(chosen, json);
    });
}
