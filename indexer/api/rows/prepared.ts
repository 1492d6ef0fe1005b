import type { Database } from "../database.ts";

const statements = new WeakMap<Database, Map<string, unknown>>();

/**
 * A statement with placeholders that is put together once for a database, and that each connection plans once. Whatever the
 * plan depends on, such as a limit, is part of the name.
 */
export function prepared<Statement>(db: Database, name: string, make: () => Statement): Statement {
  const known = statements.get(db) ?? new Map<string, unknown>();
  statements.set(db, known);
  const found = (known.get(name) as Statement | undefined) ?? make();
  known.set(name, found);
  return found;
}
