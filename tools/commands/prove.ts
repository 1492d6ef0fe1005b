import type { Command } from "commander";
import { properties } from "../proofs/properties.ts";

/** The exploration of the whole contract (tools/proofs/exploration.ts). */
const WHOLE = "HireEscrow";

/**
 * `npm run prove`: proves every property in tools/proofs/properties.ts, and checks that each proof finds the faults
 * that are inserted for it.
 */
export function registerProve(program: Command): void {
  program
    .command("prove")
    .description(
      "Prove the bookkeeping of the contracts, explore the escrow, and find the faults that are inserted into both.",
    )
    .option("--only <contract>", "only the property of this harness contract, such as PartsAddUp")
    .option("--json", "print every assertion and inserted fault as JSON")
    .action(async ({ only, json = false }: { only?: string; json?: boolean }, command: Command) => {
      const chosen = properties.filter(({ contract }) => only === undefined || contract === only);
      const explored = only === undefined || only === WHOLE;
      if (chosen.length === 0 && !explored)
        command.error(`--only: there are ${[...properties.map((p) => p.contract), WHOLE].join(", ")}`);
      // This loads Hardhat, which is slow, so --help does not wait for it.
      const { prove } = await import("../proofs/prove.ts");
      process.exitCode = await prove(chosen, explored, json);
    });
}
