import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";

/**
 * The same rule as for DATABASE_SCHEMA. Ponder adds 18 characters to some names, and Postgres cuts names off
 * after 63.
 */
const NAME = /^[a-z_][a-z0-9_]{0,44}$/;
/**
 * Schemas that never belong to an indexer: those of Postgres, Ponder's cache of the chain, and the node's own
 * store (`ops`).
 */
const OTHERS = /^(?:pg_.*|information_schema|public|ponder_sync|ops)$/;

/**
 * The schemas of the views that replicas read: `live` is in use, `next` is being made, `before` is from
 * before the last switch.
 */
export type ViewNames = { live: string; next: string; before: string };

/** Derives the names from the live one: `tallystick_live` gives `tallystick_next` and `tallystick_before`. */
export function viewNames(live: string): ViewNames {
  const base = live.replace(/_live$/, "");
  return { live, next: `${base}_next`, before: `${base}_before` };
}

/**
 * Checks names before they become part of SQL statements.
 *
 * @param given the names, by the option or setting that they come from
 * @throws InvalidInputError naming every field whose name is not allowed
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
