import pg from "pg";
import type { ViewNames } from "./schemaNames.ts";

/**
 * The statement that points the views at the tables of a schema, which docs/operators.md shows. It is one
 * transaction and does not wait for readers. Earlier statements read the old tables, later ones the new
 * tables.
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
