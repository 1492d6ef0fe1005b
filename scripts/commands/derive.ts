import type { Command } from "commander";
import { notesOf } from "tallystick-derive/foldLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";
import { deriveLog } from "../eventLog/deriveLog.ts";
import { readWholeLines } from "../eventLog/readWholeLines.ts";

type Options = { trustSignatures?: boolean; atBlock?: number; token?: Address };

/** `tallystick derive FILE`: the whole derivation, offline. */
export function registerDerive(program: Command): void {
  program
    .command("derive")
    .description("Compute agents, clusters and the digest from an event log, and print them as JSON.")
    .argument("<file>", "an event log as `tallystick export` writes it, or - for standard input")
    .option("--trust-signatures", "accept the signatures that are present, for synthetic logs")
    .option("--at-block <number>", "stop after this block", wholeNumber("--at-block"))
    .option(
      "--token <address>",
      "the token whose transfers count, for a log whose first line does not name it",
      parseOption("--token", addressSchema),
    )
    .addHelpText(
      "after",
      "\nTime moves at the log's ticks only: without any, nothing expires and there is no digest.",
    )
    .action(async (file: string, options: Options) => {
      const derived = await deriveLog(readWholeLines(file), options);
      for (const note of notesOf(derived)) process.stderr.write(`${note}\n`);
      process.stdout.write(`${JSON.stringify(snapshotOf(derived.store), null, 2)}\n`);
    });
}
