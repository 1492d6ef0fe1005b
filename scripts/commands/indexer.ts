import type { Command } from "commander";
import { addPartOptions, type PartOptions, runPart } from "../start/partOptions.ts";

/** `tallystick indexer`: a separate indexer, for example of a new version next to the old one. */
export function registerIndexer(program: Command): void {
  const command = program
    .command("indexer")
    .description(
      "Run one indexer with the settings of .env, without settlement, until Ctrl-C.\n" +
        "To run a second one next to the indexer of a node: --schema tallystick_v2 --port 42079. An indexer gets no wallet's key.",
    );
  addPartOptions(command, "the schema that it writes to; each indexer needs its own").action(
    (options: PartOptions) => runPart("indexer", options),
  );
}
