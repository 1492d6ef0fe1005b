import type { Database } from "../database.ts";

/**
 * The limits of prepared statements. A statement reads at most three times as many rows as its caller wants, and each
 * connection keeps few of them: a plan takes some ten kilobytes.
 */
const LIMITS = [2, 6, 11, 21, 51, 101, 201, 1_001];

/** The smallest limit of a statement that reads at least `wanted` rows. */
export function limitFor(wanted: number): number {
  return LIMITS.find((limit) => limit >= wanted) ?? wanted;
}

const statements = new WeakMap<Database, Map<string, unknown>>();

/**
 * A statement with placeholders. It is built once for a database, and each connection plans it once.
 * Everything that changes the plan, such as a limit, must be part of the name. Limits are those of {@link limitFor}.
 */
export function prepared<Statement>(db: Database, name: string, make: () => Statement): Statement {
  const known = statements.get(db) ?? new Map<string, unknown>();
  statements.set(db, known);
  const found = (known.get(name) as Statement | undefined) ?? make();
  known.set(name, found);
  return found;
}
