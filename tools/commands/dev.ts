import { type Command, Option } from "commander";
import { portNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run dev`: the API over a demo's rows, started again whenever its code changes. */
export function registerDev(program: Command): void {
  program
    .command("dev")
    .description(
      "Serve the API over the rows of a demo that keeps running, and start it again whenever its code changes, until Ctrl-C.\n" +
        "It reads indexer/api, packages/protocol, packages/derive and packages/runtime; nothing is indexed again.",
    )
    .addOption(
      new Option("--database-url <url>", "another node's Postgres; default that of the demo").env(
        "DATABASE_URL",
      ),
    )
    .addOption(
      new Option("--database-schema <name>", "the schema that the node writes to").env("DATABASE_SCHEMA"),
    )
    .option("--port <number>", "where it listens; default any free port", portNumber("--port"))
    .action(async (options: { databaseUrl?: string; databaseSchema?: string; port?: number }) => {
      const { runDevApi } = await import("../dev/runDevApi.ts");
      process.exitCode = await runDevApi(options);
    });
}
