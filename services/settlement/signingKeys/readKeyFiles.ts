import { readFileSync, statSync } from "node:fs";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Environment } from "tallystick-runtime/configuration/readEnvironment";

/** The file of a key has one line. A longer file is not a key. */
const MAX_BYTES = 1_024;

/**
 * Reads keys from files. If `NAME_FILE` names a file, its content is the value of `NAME`. So a key need not
 * be in the environment.
 *
 * @param names the keys that may be in a file
 * @throws InvalidInputError naming the setting of every file that cannot be read, and of every key that is
 * given twice
 */
export function readKeyFiles(environment: Environment, names: readonly string[]): Environment {
  const read: Environment = { ...environment };
  const issues: { field: string; message: string }[] = [];
  for (const name of names) {
    const field = `${name}_FILE`;
    const file = environment[field];
    if (!file) continue;
    if (environment[name]) issues.push({ field, message: `must not be set when ${name} is` });
    else {
      const text = textOf(file);
      if (text === undefined)
        issues.push({ field, message: "must name a file with the key, that this user may read" });
      else read[name] = text;
    }
  }
  if (issues.length > 0) throw new InvalidInputError({ issues, code: "invalid_configuration" });
  return read;
}

function textOf(file: string): string | undefined {
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > MAX_BYTES) return undefined;
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
