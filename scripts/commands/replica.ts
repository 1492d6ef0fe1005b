import type { Command } from "commander";
import { addPartOptions, type PartOptions, runPart } from "../start/partOptions.ts";

/** `tallystick replica`: an additional process that answers queries. */
export function registerReplica(program: Command): void {
  const command = program
    .command("replica")
    .description(
      "Run one replica of the API with the settings of .env, until Ctrl-C: it answers from what an indexer wrote.\n" +
        "Start as many as you need: --port 42080, --port 42081. They hold no state and get no wallet's key.",
    );
  addPartOptions(command, "the schema that it reads: an indexer's, or views of it").action(
    (options: PartOptions) => runPart("replica", options),
  );
}
