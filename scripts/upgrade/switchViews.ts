import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { missingOf, type Schemas } from "./catchUp.ts";
import { contentOf, liveSchema, readIndexer } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import type { ViewNames } from "./schemaNames.ts";
import { switchStatement } from "./switchStatement.ts";

/** The longest wait for a lock that somebody else holds. Each attempt waits one second. */
const LOCKS_MS = 60_000;

/**
 * Prepares a switch: removes what an earlier switch left, if it consists only of views.
 *
 * @throws TallystickError `not_views` when there is a table among the views, because this command makes no table there
 */
export async function clearWay(
  { transaction }: UpgradeSession,
  views: ViewNames,
  signal: AbortSignal,
): Promise<void> {
  await lookAgain(
    () =>
      transaction(async (query) => {
        for (const schema of [views.next, views.before]) {
          const content = await contentOf(query, schema);
          if (content === undefined) continue;
          if (content.tables.length > 0) throw notViews(schema, content.tables);
          await query(`DROP SCHEMA ${pg.escapeIdentifier(schema)} CASCADE`);
        }
        return true;
      }),
    { what: `the views in ${views.before} to be free`, withinMs: LOCKS_MS, everyMs: 250, signal },
  );
}

/**
 * Points the views at the tables of a schema, in one transaction, if these tables are still not behind the
 * present ones.
 *
 * @param schemas without `live`, the views are made for the first time
 * @returns false when the new indexer has fallen behind meanwhile; then nothing was switched
 * @throws TallystickError `switched_meanwhile` when the views read other tables than when this run began
 */
export async function switchViews(
  { transaction }: UpgradeSession,
  { live, next }: { live: string | undefined; next: string },
  views: ViewNames,
  signal: AbortSignal,
): Promise<boolean> {
  return lookAgain(
    () =>
      transaction(async (query) => {
        const now = await liveSchema(query, views.live);
        // The switch was done, but the connection broke before the confirmation.
        if (now === next) return { switched: true };
        // While our connection was lost, another process did an upgrade.
        if (now !== live) throw switchedMeanwhile(views.live, now);
        if (live !== undefined && !(await isReadyNow(query, { live, next }))) return { switched: false };
        await query(switchStatement(next, views));
        return { switched: true };
      }),
    { what: `the tables of ${next} to be free`, withinMs: LOCKS_MS, everyMs: 250, signal },
  ).then(({ switched }) => switched);
}

async function isReadyNow(query: UpgradeSession["query"], { live, next }: Schemas): Promise<boolean> {
  const [before, after] = [await readIndexer(query, live), await readIndexer(query, next)];
  return before !== undefined && missingOf(before, after) === null;
}

function switchedMeanwhile(views: string, now: string | undefined): TallystickError {
  return new TallystickError({
    code: "switched_meanwhile",
    message: `Somebody else has switched ${views} meanwhile: it reads ${now ?? "no indexer's tables"}.`,
    hint: "This run switched nothing. Find out who did this, then run it again.",
  });
}

/** The error for a schema that has more than views. Such a schema is never renamed or dropped. */
export function notViews(schema: string, tables: string[]): TallystickError {
  return new TallystickError({
    code: "not_views",
    message: `${schema} has tables (${tables.slice(0, 3).join(", ")}…). A schema that replicas read through has only views.`,
    hint: "Nothing was changed. VIEWS_SCHEMA, or --views, names a schema that has nothing but views.",
  });
}
