import { rm } from "node:fs/promises";
import type { Command } from "commander";
import { watchShutdown } from "../../scripts/cli/shutdown.ts";

/** `tallystick record-mcp`: records the session in docs/mcp.md again. */
export function registerRecordMcp(program: Command): void {
  program
    .command("record-mcp")
    .description(
      "Start a demo node with sellers, let an MCP client work on it, and print the session as Markdown.",
    )
    .action(async () => {
      // Loads Hardhat, which is slow, so --help does not wait for it.
      const { createRunFolder } = await import("../../scripts/demo/runFolder.ts");
      const { openMcpMarket } = await import("../mcp/openMcpMarket.ts");
      const { recordSession, sessionText } = await import("../mcp/recordSession.ts");
      const { openSupervisor } = await import("../../scripts/processes/openSupervisor.ts");
      const shutdown = watchShutdown();
      const folder = await createRunFolder();
      const supervisor = await openSupervisor();
      try {
        const market = await openMcpMarket(supervisor, folder, shutdown.signal);
        try {
          process.stdout.write(sessionText(await recordSession(market)));
        } finally {
          await market.close();
        }
      } finally {
        await supervisor.close();
        await rm(folder, { recursive: true, force: true });
        shutdown.release();
      }
    });
}
