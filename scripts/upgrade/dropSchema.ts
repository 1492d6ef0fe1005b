import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { contentOf, isHeld, liveSchema, readIndexer, viewsOn } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import { readersOf } from "./readersOf.ts";
import type { ViewNames } from "./schemaNames.ts";
import { notViews } from "./switchViews.ts";

const LOCKS_MS = 60_000;

/**
 * Drops the schema of an indexer: one that an upgrade left unfinished, or the old one after a switch. It
 * refuses a schema that views or processes read, one into which an indexer writes, or one with tables that no
 * indexer made.
 *
 * @returns false when there is no such schema
 * @throws TallystickError `schema_is_read`, `schema_in_use`, `not_an_indexers`
 */
export async function dropSchema(
  session: UpgradeSession,
  schema: string,
  views: ViewNames,
  signal: AbortSignal,
  now = Date.now,
): Promise<boolean> {
  return lookAgain(
    () =>
      session.transaction(async (query) => {
        const content = await contentOf(query, schema);
        if (content === undefined) return { dropped: false };
        const readers = (await viewsOn(query, schema)).filter((it) => it !== views.before);
        if (readers.length > 0) throw isRead(schema, readers);
        const state = await readIndexer(query, schema);
        if (state && isHeld(state, now())) throw inUse(schema);
        // The heartbeat is not enough: it is from another machine's clock, and replicas have no heartbeat.
        const processes = await readersOf(query, schema);
        if (processes > 0) throw isReadBy(schema, processes);
        const strange = await strangeTables(query, schema, content.tables);
        if (strange.length > 0) throw notAnIndexers(schema, strange);
        // Views of the last switch go with the tables that they read.
        await query(`DROP SCHEMA ${pg.escapeIdentifier(schema)} CASCADE`);
        for (const table of ["ops.blocked_segment", "ops.blocked_transfers"]) {
          const { rows } = await query("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
          if (rows[0]?.there) await query(`DELETE FROM ${table} WHERE indexer_schema = $1`, [schema]);
        }
        return { dropped: true };
      }),
    { what: `the tables of ${schema} to be free`, withinMs: LOCKS_MS, everyMs: 250, signal },
  ).then(({ dropped }) => dropped);
}

/**
 * Drops the rest of the last switch: the views from before it, and the tables that they read.
 *
 * @returns the dropped schemas
 */
export async function dropOld(
  session: UpgradeSession,
  views: ViewNames,
  signal: AbortSignal,
): Promise<string[]> {
  const content = await contentOf(session.query, views.before);
  if (content === undefined) return [];
  if (content.tables.length > 0) throw notViews(views.before, content.tables);
  const old = await liveSchema(session.query, views.before);
  // The tables are dropped first. If that is refused, the views still show which tables belonged to them.
  if (old !== undefined) await dropSchema(session, old, views, signal);
  await lookAgain(
    () =>
      session.transaction(async (query) => {
        await query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(views.before)} CASCADE`);
        return true;
      }),
    { what: `the views in ${views.before} to be free`, withinMs: LOCKS_MS, everyMs: 250, signal },
  );
  return old === undefined ? [views.before] : [old, views.before];
}

/**
 * The tables that are not Ponder's. An indexer that ended early may leave an empty schema, which has no such tables.
 */
async function strangeTables(
  query: UpgradeSession["query"],
  schema: string,
  tables: string[],
): Promise<string[]> {
  if (!tables.includes("_ponder_meta")) return tables;
  const { rows } = await query(
    `SELECT value->'table_names' AS names FROM ${pg.escapeIdentifier(schema)}._ponder_meta LIMIT 1`,
  );
  const own = new Set<string>(rows[0]?.names ?? []);
  return tables.filter((table) => !own.has(table) && !/^_(?:ponder|reorg)_/.test(table));
}

function isRead(schema: string, readers: string[]): TallystickError {
  return new TallystickError({
    code: "schema_is_read",
    message: `The tables of ${schema} are read by the views in ${readers.join(", ")}.`,
    hint: "Nothing was dropped. Switch replicas to another schema first. If you made views of your own, drop them yourself.",
  });
}

function isReadBy(schema: string, processes: number): TallystickError {
  return new TallystickError({
    code: "schema_in_use",
    message: `The tables of ${schema} are read directly, not through views, by ${processes} of the processes that answer.`,
    hint: "Nothing was dropped. Stop its indexer, and start replicas again with DATABASE_SCHEMA naming the views.",
  });
}

function inUse(schema: string): TallystickError {
  return new TallystickError({
    code: "schema_in_use",
    message: `An indexer writes to ${schema}, or did so within the last 25 seconds.`,
    hint: "Nothing was dropped. Stop that indexer first. After a crash, wait half a minute.",
  });
}

function notAnIndexers(schema: string, tables: string[]): TallystickError {
  return new TallystickError({
    code: "not_an_indexers",
    message: `${schema} has tables that no indexer made: ${tables.slice(0, 5).join(", ")}.`,
    hint: "Nothing was dropped. Check that this is the right schema.",
  });
}
