import path from "node:path";
import { type Command, Option } from "commander";
import { wholeNumber } from "../cli/parseOption.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { UpgradeOptions } from "../upgrade/runUpgrade.ts";

/** `tallystick upgrade`: changes to a new version of the derived rows, without downtime. */
export function registerUpgrade(program: Command): void {
  program
    .command("upgrade")
    .description(
      "Move a node's replicas to the tables of a new indexer. No request fails.\n" +
        "It starts the indexer in a schema of its own, waits until the indexer has caught up, compares " +
        "digests, and then points the views that the replicas read at the new tables. Until then nothing " +
        "changes for clients. If it is stopped or killed, run it again: it continues.",
    )
    .option("--env-file <file>", "the settings; default .env in the checkout")
    .option("--schema <name>", "the new indexer's schema; default: named after the build")
    .option("--views <name>", "the views that replicas read through (VIEWS_SCHEMA); default tallystick_live")
    .option("--port <number>", "where the new indexer listens", wholeNumber("--port"), 42_079)
    .option("--host <address>", "on which address of this machine (INDEXER_HOST)")
    .option("--logs <folder>", "where its log goes", path.join(repositoryRoot, ".tallystick", "logs"))
    .option("--follow-only", "start no indexer: wait for the one that somebody started in --schema")
    .option("--rules-changed", "switch although the digests differ, because rules or parameters changed")
    .option("--force", "continue although the build is the same, or the disk seems too small")
    .option(
      "--replica <url>",
      "ask this replica, or the balancer, whether it answers from the new tables; may be given several times",
      (url: string, before: string[]) => [...before, url],
      [],
    )
    .option(
      "--within <minutes>",
      "how long the new indexer may take to catch up",
      wholeNumber("--within"),
      1_440,
    )
    .option("--json", "tell each step as a line of JSON on standard output")
    .addOption(
      new Option(
        "--make-views <schema>",
        "only make the views, the first time, on the tables of this indexer",
      ).conflicts(["abandon", "dropOld", "schema"]),
    )
    .addOption(
      new Option("--abandon <schema>", "only drop the schema of an abandoned upgrade").conflicts([
        "dropOld",
        "schema",
      ]),
    )
    .addOption(new Option("--drop-old", "only drop what the last switch left").conflicts(["schema"]))
    .action(async (options: UpgradeOptions) => {
      const { runUpgrade } = await import("../upgrade/runUpgrade.ts");
      process.exitCode = await runUpgrade(options);
    });
}
