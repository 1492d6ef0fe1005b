import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";

/** As DATABASE_SCHEMA has it: Ponder puts 18 more characters to some of its names, and Postgres cuts off after 63. */
const NAME = /^[a-z_][a-z0-9_]{0,44}$/;
/** What is not an indexer's: Postgres' own, Ponder's cache of the chain, what the node stores apart from its rows. */
const OTHERS = /^(?:pg_.*|information_schema|public|ponder_sync|ops)$/;

/** The names of the views that replicas read through: now, while they are made, and those of the last switch. */
export type ViewNames = { live: string; next: string; before: string };

/** `tallystick_live`, `tallystick_next`, `tallystick_before` for the first of them. */
export function viewNames(live: string): ViewNames {
  const base = live.replace(/_live$/, "");
  return { live, next: `${base}_next`, before: `${base}_before` };
}

/**
 * Checks names that are going to stand in statements, before anything is asked of the database.
 *
 * @param given by the option or setting that gave them
 * @throws InvalidInputError naming every one that is no name for a schema of an indexer
 */
export function checkSchemaNames(given: { [field: string]: string | undefined }, views?: ViewNames): void {
  const issues = Object.entries(given).flatMap(([field, name]): InputIssue[] => {
    if (name === undefined) return [];
    if (!NAME.test(name))
      return [
        {
          field,
          message: "must be 1 to 45 lower-case letters, digits and underscores, and not begin with a digit",
        },
      ];
    if (OTHERS.test(name)) return [{ field, message: `${name} is not a schema for an indexer` }];
    if (views && Object.values(views).includes(name))
      return [{ field, message: `${name} is for the views that replicas read through` }];
    return [];
  });
  if (issues.length > 0)
    throw new InvalidInputError({ issues, code: "invalid_schema_name", hint: "Nothing was changed." });
}
