import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import type { MutateOptions } from "../mutation/mutate.ts";
import { subjects } from "../mutation/subjects.ts";
import type { MutateRoomOptions } from "../mutation/typescript/mutateRooms.ts";
import { rooms } from "../mutation/typescript/rooms.ts";

/** `npm run mutate`: makes small changes of the source, one at a time, and checks whether a test notices each. */
export function registerMutate(program: Command): void {
  program
    .command("mutate")
    .description(
      "Change the contracts, or a room of the TypeScript, in every small way, one at a time, and see whether a test notices.",
    )
    .option("--room <name>", `a room of the TypeScript in place of the contracts, or a part: ${names()}`)
    .option("--file <name>", "only this source file, such as EscrowBook.sol or tiers.ts")
    .option(
      "--sample <n>",
      "only n mutants of each file of the contracts, or the mutants of n lines of each part of a room, spread evenly",
      wholeNumber("--sample"),
    )
    .option("--match <text>", "contracts: only mutants whose id contains the text")
    .option("--concurrency <n>", "rooms: how many processes run tests (default: 2)", Number)
    .option("--again", "forget the results of earlier runs on the same source and tests")
    .option("--json", "print the outcome of every mutant as JSON")
    .action(async (options: MutateOptions & MutateRoomOptions & { room?: string }, command: Command) => {
      if (options.room !== undefined) {
        const { room } = options;
        const chosen = rooms.filter(({ name }) => name === room || name.startsWith(`${room}/`));
        if (chosen.length === 0) command.error(`--room: there are ${names()}`);
        const { mutateRooms } = await import("../mutation/typescript/mutateRooms.ts");
        process.exitCode = await mutateRooms(chosen, options);
        return;
      }
      const chosen = subjects.filter(({ file }) => options.file === undefined || file.endsWith(options.file));
      if (chosen.length === 0) command.error(`--file: there are ${subjects.map((s) => s.file).join(", ")}`);
      // This loads Hardhat, which is slow, so --help does not wait for it.
      const { mutate } = await import("../mutation/mutate.ts");
      process.exitCode = await mutate(chosen, options);
    });
}

/** Each room, with its parts behind it: `protocol (protocol/ledger, …)`. */
function names(): string {
  const wholes = Map.groupBy(rooms, ({ name }) => name.split("/")[0]);
  return [...wholes]
    .map(([whole, parts]) => `${whole} (${parts.map(({ name }) => name).join(", ")})`)
    .join("; ");
}
