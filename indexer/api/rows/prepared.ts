import type { Database } from "../database.ts";

const statements = new WeakMap<Database, Map<string, unknown>>();

/**
 * A statement with placeholders. It is built once for a database, and each connection plans it once.
 * Everything that changes the plan, such as a limit, must be part of the name.
 */
export function prepared<Statement>(db: Database, name: string, make: () => Statement): Statement {
  const known = statements.get(db) ?? new Map<string, unknown>();
  statements.set(db, known);
  const found = (known.get(name) as Statement | undefined) ?? make();
  known.set(name, found);
  return found;
}
