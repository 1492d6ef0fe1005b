import type { Command } from "commander";
import { notesOf } from "tallystick-derive/foldLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import { addDeriveOptions, type DeriveOptions } from "../cli/deriveOptions.ts";
import { deriveLog } from "../eventLog/deriveLog.ts";
import { readWholeLines } from "../eventLog/readWholeLines.ts";

/** `tallystick derive FILE`: the whole derivation, offline. */
export function registerDerive(program: Command): void {
  const command = program
    .command("derive")
    .description("Compute agents, clusters and the digest from an event log, and print them as JSON.")
    .argument("<file>", "an event log as `tallystick export` writes it, or - for standard input")
    .addHelpText(
      "after",
      "\nTime moves at the log's ticks only: without any, nothing expires and there is no digest.",
    );
  addDeriveOptions(command).action(async (file: string, options: DeriveOptions) => {
    const derived = await deriveLog(readWholeLines(file), options);
    for (const note of notesOf(derived)) process.stderr.write(`${note}\n`);
    process.stdout.write(`${JSON.stringify(snapshotOf(derived.store), null, 2)}\n`);
  });
}
