import { InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import { type KeyHolder, keysOfOthers } from "tallystick-protocol/keysOfOthers";
import type { z } from "zod";

/** Environment variables. An empty variable counts as absent. */
export type Environment = { [name: string]: string | undefined };

/** The variables that are not empty. */
export function variablesIn(environment: Environment): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

/**
 * Reads a process's variables.
 *
 * @param holder the process that reads them; the variables must not contain a key of another process
 * @throws InvalidInputError `invalid_configuration` naming every wrong variable
 */
export function readEnvironment<Schema extends z.ZodType>(
  environment: Environment,
  schema: Schema,
  holder: KeyHolder,
): z.output<Schema> {
  const given = variablesIn(environment);
  const code = "invalid_configuration";
  const foreign = keysOfOthers(holder, given);
  if (foreign.length > 0) throw new InvalidInputError({ issues: foreign, code });
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw invalidInputFromZod(parsed.error, "", code);
  return parsed.data;
}
