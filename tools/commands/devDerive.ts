import type { Command } from "commander";
import { addDeriveOptions } from "../../scripts/cli/deriveOptions.ts";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import type { DevDeriveOptions } from "../dev/runDevDerive.ts";

/** `npm run dev:derive -- FILE`: shows how a change of the derivation, or of a log, changes the derived rows. */
export function registerDevDerive(program: Command): void {
  const command = program
    .command("dev-derive")
    .description(
      "Derive a log, and derive it again when the log, packages/derive or packages/protocol changes, until Ctrl-C. Print which\n" +
        "fields of agents and clusters changed since the run before, and whether the digest changed.",
    )
    .argument("<file>", "an event log as `tallystick export` writes it")
    .option("--show <count>", "how many changes to show", wholeNumber("--show"), 40)
    .option("--json", "print each run as a line of JSON, with all changes");
  addDeriveOptions(command).action(async (file: string, options: DevDeriveOptions) => {
    const { runDevDerive } = await import("../dev/runDevDerive.ts");
    process.exitCode = await runDevDerive(file, options);
  });
}
