import { InvalidInputError } from "tallystick-protocol/errors";

/**
 * Refuses options that say whom to trust and that the file's form does not use. A stranger chooses that form. Without this
 * check, the stranger could make a command ignore the keys or witnesses that its reader trusts.
 *
 * @param given each such option by its flag
 * @param what what was found, and what to do, after "is not for"
 * @throws InvalidInputError naming every option that was given
 */
export function refuseOptions(given: { readonly [flag: string]: unknown }, what: string): void {
  const flags = Object.keys(given).filter((flag) => given[flag] !== undefined);
  if (flags.length === 0) return;
  throw new InvalidInputError({
    issues: flags.map((field) => ({ field, message: `is not for ${what}` })),
  });
}
