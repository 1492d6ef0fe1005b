import type { Command } from "commander";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

/** `tallystick witness`: cosigns the checkpoints of logs that only grow, until it is told to stop. */
export function registerWitness(program: Command): void {
  program
    .command("witness")
    .description(
      "Cosign the checkpoints of ledgers that only grow (C2SP tlog-witness). WITNESS_NAME is the name of the " +
        "witness. WITNESS_LOGS names a file with one `log <vkey>` on each line, and `quorum none`. Prints its " +
        "own verifier key.",
    )
    .addHelpText(
      "after",
      "\nWITNESS_DIR holds what the witness cosigned last. Never replace that folder by" +
        "\nan older copy: the witness would forget what it has signed, and could sign a" +
        "\nsecond history.",
    )
    .action(async () => {
      const { readWitnessConfig } = await import("../../services/witness/config.ts");
      const config = readWitnessConfig(process.env);
      const { runWitness } = await import("../../services/witness/runWitness.ts");
      await serveUntilStopped(async (onFault) => {
        const witness = await runWitness({ config, now: () => Date.now() / 1000, onFault });
        const { url, verifierKey, origins, close } = witness;
        return { url, close, about: { key: verifierKey, logs: origins } };
      });
    });
}
