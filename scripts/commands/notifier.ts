import type { Command } from "commander";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

/** `tallystick notifier`: tells buyers what happens to the SLAs of agents that they named. */
export function registerNotifier(program: Command): void {
  program
    .command("notifier")
    .description(
      "Follow a node, and tell subscribed buyers what happens to SLAs: a breach is detected, disputed, ruled " +
        "on, confirmed, closed or paid. NOTIFIER_PRIVATE_KEY signs every notice, and settlement's setting " +
        "NOTIFIER names its address.",
    )
    .action(async () => {
      const { readNotifierConfig } = await import("../../services/notifying/config.ts");
      const config = readNotifierConfig(process.env);
      const { runNotifier } = await import("../../services/notifying/runNotifier.ts");
      const about = { node: config.nodeUrl, folder: config.folder };
      await serveUntilStopped(async () => ({ ...(await runNotifier(config)), about }));
    });
}
