/**
 * A scalar subquery in SQL. Schema `$1` has views. This finds the schema of the tables that these views read. NULL if
 * `$1` has no views of an indexer's tables. Replicas read through views, so another indexer can replace the first. The
 * schema is found by the view of Ponder's checkpoint.
 */
export const SCHEMA_BEHIND_VIEWS = `(
  SELECT owner.nspname::text FROM pg_class AS seen
    JOIN pg_rewrite AS rule ON rule.ev_class = seen.oid
    JOIN pg_depend ON objid = rule.oid AND classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
    JOIN pg_class AS source ON source.oid = refobjid AND source.relkind = 'r'
    JOIN pg_namespace AS owner ON owner.oid = source.relnamespace
  WHERE seen.relname = '_ponder_checkpoint' AND seen.relkind = 'v'
    AND seen.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) LIMIT 1)`;
