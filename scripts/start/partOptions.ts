import path from "node:path";
import type { Command } from "commander";
import { wholeNumber } from "../cli/parseOption.ts";
import { repositoryRoot } from "../repositoryRoot.ts";

/** The options of the commands that start one process of the read side. */
export type PartOptions = { envFile?: string; schema?: string; port?: number; host?: string; logs: string };

/** Adds the options. Each has priority over the setting of the same meaning. */
export function addPartOptions(command: Command, schema: string): Command {
  return command
    .option("--env-file <file>", "the settings; default .env in the checkout")
    .option("--schema <name>", `${schema} (DATABASE_SCHEMA)`)
    .option("--port <number>", "where it listens (INDEXER_PORT)", wholeNumber("--port"))
    .option("--host <address>", "on which address of this machine (INDEXER_HOST)")
    .option("--logs <folder>", "where its log goes", path.join(repositoryRoot, ".tallystick", "logs"));
}

/** Runs the process until it is told to stop. */
export async function runPart(part: "indexer" | "replica", options: PartOptions): Promise<void> {
  const { readSettings } = await import("./readSettings.ts");
  const { runNode } = await import("./runNode.ts");
  const node = await readSettings(options.envFile, part, {
    DATABASE_SCHEMA: options.schema,
    INDEXER_PORT: options.port === undefined ? undefined : String(options.port),
    INDEXER_HOST: options.host,
  });
  process.exitCode = await runNode(node, { logs: path.resolve(options.logs), part });
}
