import type { Command } from "commander";
import { portNumber } from "../../scripts/cli/parseOption.ts";
import { untilAborted, watchShutdown } from "../../scripts/cli/shutdown.ts";

/** `npm run dev:portal`: the portal's sources in front of a running node, shown again as they change. */
export function registerDevPortal(program: Command): void {
  program
    .command("dev-portal")
    .description(
      "Serve the portal in front of a running node, and show it again whenever its code changes, until Ctrl-C.",
    )
    .option("--node <url>", "another node than the demo's")
    .option("--port <number>", "where it listens; default any free port", portNumber("--port"))
    .action(async (options: { node?: string; port?: number }) => {
      const { runDevPortal } = await import("../dev/runDevPortal.ts");
      const portal = await runDevPortal(options);
      const shutdown = watchShutdown();
      process.stdout.write(`${JSON.stringify({ listening: portal.url, node: portal.node })}\n`);
      await untilAborted(shutdown.signal);
      await portal.close();
      process.exitCode = shutdown.exitCode() ?? 0;
    });
}
