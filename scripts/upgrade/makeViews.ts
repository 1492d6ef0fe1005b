import { TallystickError } from "tallystick-protocol/errors";
import { contentOf, liveSchema, readIndexer } from "./indexerState.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import type { ViewNames } from "./schemaNames.ts";
import { clearWay, notViews, switchViews } from "./switchViews.ts";

/**
 * Makes the views that replicas read through, for the first time.
 *
 * @param schema the schema of the indexer that answers now
 * @returns false when the views read that schema already
 * @throws TallystickError `views_exist` when the views read another schema; `no_such_schema`
 */
export async function makeViews(
  session: UpgradeSession,
  schema: string,
  views: ViewNames,
  signal: AbortSignal,
): Promise<boolean> {
  const { query } = session;
  if ((await readIndexer(query, schema)) === undefined) {
    throw new TallystickError({
      code: "no_such_schema",
      message: `No indexer has made its tables in ${schema}.`,
      hint: "Nothing was changed. DATABASE_SCHEMA of the running indexer names its schema.",
    });
  }
  const content = await contentOf(query, views.live);
  if (content !== undefined && content.tables.length > 0) throw notViews(views.live, content.tables);
  const live = await liveSchema(query, views.live);
  if (live === schema) return false;
  if (live !== undefined) {
    throw new TallystickError({
      code: "views_exist",
      message: `${views.live} reads ${live} already.`,
      hint: `Nothing was changed. \`tallystick upgrade --follow-only --schema ${schema}\` switches it, but without a way back.`,
    });
  }
  await clearWay(session, views, signal);
  return switchViews(session, { live: undefined, next: schema }, views, signal);
}
