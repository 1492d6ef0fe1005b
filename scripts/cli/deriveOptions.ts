import type { Command } from "commander";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { parseOption, wholeNumber } from "./parseOption.ts";

/** How a log is derived. */
export type DeriveOptions = { trustSignatures?: boolean; atBlock?: number; token?: Address };

/** Adds the options of a command that derives a log. */
export function addDeriveOptions(command: Command): Command {
  return command
    .option("--trust-signatures", "accept every signature without a check; for synthetic logs")
    .option("--at-block <number>", "stop after this block", wholeNumber("--at-block"))
    .option(
      "--token <address>",
      "the token whose transfers count, for a log whose first line does not name it",
      parseOption("--token", addressSchema),
    );
}
