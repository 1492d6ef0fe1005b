import type { Command } from "commander";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

/** `tallystick prober`: checks whether the hosts of agents answer, until it is told to stop. */
export function registerProber(program: Command): void {
  program
    .command("prober")
    .description(
      "Check every five minutes whether each host of a live listing answers, and report it every hour to the " +
        "node's settlement, signed with PROBER_PRIVATE_KEY. The User-Agent tells hosts whom to write to " +
        "(PROBER_CONTACT). Their robots.txt can keep the prober away.",
    )
    .action(async () => {
      const { readProberConfig } = await import("../../services/probing/config.ts");
      const { stderrLog } = await import("tallystick-runtime/stderrLog");
      const config = readProberConfig(process.env);
      const { runProber } = await import("../../services/probing/runProber.ts");
      await serveUntilStopped(async () => {
        const { url, address, close } = await runProber(config, stderrLog);
        return { url, close, about: { prober: address, folder: config.folder } };
      });
    });
}
