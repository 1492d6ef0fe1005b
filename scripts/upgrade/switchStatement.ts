import pg from "pg";
import type { ViewNames } from "./schemaNames.ts";

/**
 * The SQL statement that makes the views show the tables of another schema. docs/operators.md shows it. It is one
 * transaction and does not wait for readers. Statements that begin before it ends read the old tables. Later statements
 * read the new tables.
 *
 * @param schema the schema of the tables
 */
export function switchStatement(schema: string, views: ViewNames): string {
  const [source, live, next, before] = [schema, views.live, views.next, views.before].map(
    pg.escapeIdentifier,
  );
  const [name, liveName] = [schema, views.live].map(pg.escapeLiteral);
  return `DO $$ DECLARE name text; BEGIN
  CREATE SCHEMA ${next};
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = ${name} LOOP
    EXECUTE format('CREATE VIEW ${next}.%1$I AS SELECT * FROM ${source}.%1$I', name);
  END LOOP;
  IF to_regnamespace(${liveName}) IS NOT NULL THEN
    ALTER SCHEMA ${live} RENAME TO ${before};
  END IF;
  ALTER SCHEMA ${next} RENAME TO ${live};
END $$;
`;
}
