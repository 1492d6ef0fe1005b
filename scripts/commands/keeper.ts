import type { Command } from "commander";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";
import { readKeeperConfig } from "../keeper/config.ts";

/** `tallystick keeper`: relays releases, refunds and timeouts of one escrow, until it is told to stop. */
export function registerKeeper(program: Command): void {
  program
    .command("keeper")
    .description(
      "Relay what buyers and sellers signed about an escrow, in batches: deposits, deliveries, releases and " +
        "refunds. After a deadline, send the timeout. KEEPER_PRIVATE_KEY pays the gas. The keeper can do " +
        "nothing that the parties did not sign.",
    )
    .option("--escrow <address>", "the contract, when ESCROWS names several")
    .action(async (options: { escrow?: string }) => {
      const { completedSettings } = await import("../start/completedSettings.ts");
      const config = readKeeperConfig(await completedSettings(options.escrow), options.escrow);
      const { runKeeper } = await import("../keeper/runKeeper.ts");
      const { escrow, chainId, folder } = config;
      await serveUntilStopped(async () => ({
        ...(await runKeeper(config)),
        about: { escrow, chainId, folder },
      }));
    });
}
