/**
 * A scalar subquery in SQL. It finds the schema of the tables behind the views of another schema (parameter `$1`). It
 * is NULL when that schema has no views on an indexer. Replicas read through views, so that another indexer can
 * replace the first. The schema is found by the view on Ponder's checkpoint.
 */
export const SCHEMA_BEHIND_VIEWS = `(
  SELECT owner.nspname::text FROM pg_class AS seen
    JOIN pg_rewrite AS rule ON rule.ev_class = seen.oid
    JOIN pg_depend ON objid = rule.oid AND classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
    JOIN pg_class AS source ON source.oid = refobjid AND source.relkind = 'r'
    JOIN pg_namespace AS owner ON owner.oid = source.relnamespace
  WHERE seen.relname = '_ponder_checkpoint' AND seen.relkind = 'v'
    AND seen.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) LIMIT 1)`;
