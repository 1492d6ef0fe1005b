import { text } from "node:stream/consumers";
import type { Command } from "commander";
import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { plainJson } from "tallystick-runtime/plainText";

/** `tallystick sql`: statements for a node's Postgres, where there is no psql. */
export function registerSql(program: Command): void {
  program
    .command("sql")
    .description("Run SQL statements in the database of DATABASE_URL, and print what they return.")
    .argument("<statements>", "one or more, separated by semicolons; or - for standard input")
    .addHelpText(
      "after",
      "\nSeveral statements in one argument are one transaction, unless they begin and" +
        "\nend their own." +
        "\nEach row is printed as a line of JSON. A statement without rows prints its name" +
        "\nand how many rows it changed.",
    )
    .action(async (argument: string) => {
      const { DATABASE_URL: connectionString } = process.env;
      if (!connectionString) {
        throw new TallystickError({
          code: "no_database",
          message: "DATABASE_URL is not set.",
          hint: "`npm run demo -- --keep` prints it for its node; for your own node it is in .env.",
        });
      }
      const statements = argument === "-" ? await text(process.stdin) : argument;
      const client = new pg.Client({
        connectionString,
        application_name: "tallystick sql",
        connectionTimeoutMillis: 10_000,
      });
      client.on("error", () => {});
      try {
        await client.connect();
        const results = await client.query(statements);
        for (const { command, rows, rowCount } of [results].flat()) {
          for (const row of rows) process.stdout.write(`${plainJson(row)}\n`);
          if (rows.length === 0)
            process.stdout.write(`${[command, rowCount].filter((it) => it !== null).join(" ")}\n`);
        }
      } catch (cause) {
        const { message, code } = cause as { message: string; code?: string };
        throw new TallystickError({
          code: "statement_failed",
          message: message || `Postgres does not answer: ${code}`,
          hint: "A failed transaction changes nothing.",
          cause,
        });
      } finally {
        await client.end();
      }
    });
}
