import { rm } from "node:fs/promises";
import type { Command } from "commander";
import { watchShutdown } from "../cli/shutdown.ts";
import { createRunFolder } from "../demo/runFolder.ts";
import { openMcpMarket } from "../mcp/openMcpMarket.ts";
import { recordSession, sessionText } from "../mcp/recordSession.ts";
import { openKeeper } from "../processes/openKeeper.ts";

/** `tallystick record-mcp`: the session in docs/mcp.md, made again. */
export function registerRecordMcp(program: Command): void {
  program
    .command("record-mcp")
    .description(
      "Start a demo node with sellers, let an MCP client work on it, and print the session as Markdown.",
    )
    .action(async () => {
      const shutdown = watchShutdown();
      const folder = await createRunFolder();
      const keeper = await openKeeper();
      try {
        const market = await openMcpMarket(keeper, folder, shutdown.signal);
        try {
          process.stdout.write(sessionText(await recordSession(market)));
        } finally {
          await market.close();
        }
      } finally {
        await keeper.close();
        await rm(folder, { recursive: true, force: true });
        shutdown.release();
      }
    });
}
