import { type Command, Option } from "commander";

/** How a command finds the database of a node. */
export type NodeOptions = { databaseUrl: string; databaseSchema: string };

/** Adds the options by which a command finds a node's database; both can come from the environment or `.env`. */
export function addNodeOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--database-url <url>", "the node's Postgres").env("DATABASE_URL").makeOptionMandatory(),
    )
    .addOption(
      new Option("--database-schema <name>", "the schema that the node writes to")
        .env("DATABASE_SCHEMA")
        .default("tallystick"),
    );
}
