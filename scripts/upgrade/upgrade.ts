import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { askReplicas } from "./askReplicas.ts";
import { catchUp, type Schemas } from "./catchUp.ts";
import { describeRoom, readRoom, roomIssues } from "./checkRoom.ts";
import { compareDigests } from "./compareDigests.ts";
import { contentOf, type IndexerState, isHeld, liveSchema, readIndexer } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";
import { readersOf } from "./readersOf.ts";
import { viewNames } from "./schemaNames.ts";
import { clearWay, notViews, switchViews } from "./switchViews.ts";
import type { UpgradeReport } from "./upgradeReport.ts";

/** The parameters of an upgrade. */
export type UpgradeParameters = {
  session: UpgradeSession;
  report: UpgradeReport;
  databaseUrl: string;
  /** The schema of the views that replicas read through. */
  views: string;
  /** Names the schema of the new indexer, given the live one. */
  nextFor: (live: string) => string;
  /** Starts the new indexer there; undefined: somebody else has started it. */
  startIndexer: ((schema: string) => Promise<void>) | undefined;
  replicas: readonly string[];
  /** Continues even if the build is the same, or there seems to be too little room. */
  force: boolean;
  rulesChanged: boolean;
  /** Milliseconds that the new indexer has to catch up. */
  withinMs: number;
  signal: AbortSignal;
  patience?: { reorgMs?: number; silentMs?: number; replicasMs?: number };
};

/** The result of an upgrade. */
export type Upgraded = Schemas & {
  /** False when the views read that schema already. */
  switched: boolean;
  /** The reason why the replicas could not be confirmed to use the new tables. */
  replicasError: unknown;
};

/**
 * Switches the replicas of a node from the tables of one indexer to those of another, without a failed
 * request. The switch is one transaction. Before it nothing changes for anybody, and after it the replicas
 * read the new tables. After a crash, a second run reads the progress from the database.
 *
 * @throws TallystickError with what to do next. After the switch nothing is thrown: see `replicasError`
 */
export async function upgrade(parameters: UpgradeParameters): Promise<Upgraded> {
  const { session, report, startIndexer, signal, withinMs, rulesChanged, patience = {} } = parameters;
  const views = viewNames(parameters.views);
  const { lastBeat, ...schemas } = await report.step("situation", () =>
    // For example, while somebody builds an index, the query for sizes waits.
    lookAgain(() => checkSituation(parameters), {
      what: "the locks of others on the tables",
      withinMs: 60_000,
      everyMs: 500,
      signal,
    }),
  );
  const { live, next } = schemas;
  const outcome = { ...schemas, switched: live !== next };
  if (live !== next) {
    if (startIndexer)
      await report.step("indexer", async () => {
        await untilFree(parameters, next);
        await startIndexer(next);
        return { detail: `writes to ${next}`, fields: { schema: next }, value: undefined };
      });
    await untilIndexerIsThere(parameters, schemas);
    const deadline = performance.now() + withinMs;
    do {
      await report.step("catching-up", async (tell) => {
        const distance = await catchUp(session, schemas, {
          withinMs: deadline - performance.now(),
          signal,
          silentMs: patience.silentMs,
          lastBeat,
          tell,
        });
        return { detail: `block ${distance.block}`, fields: { ...distance }, value: undefined };
      });
      await report.step("digests", async () => {
        const found = await compareDigests(session, schemas, {
          rulesChanged,
          signal,
          patienceMs: patience.reorgMs,
        });
        return { detail: describeDigests(found), fields: found ?? { block: null }, value: undefined };
      });
      await clearWay(session, views, signal);
    } while (!(await switchOver(parameters, schemas)));
  }
  return { ...outcome, replicasError: await checkReplicas(parameters, schemas) };
}

function switchOver(
  { session, report, views, signal }: UpgradeParameters,
  schemas: Schemas,
): Promise<boolean> {
  return report.step("switch", async () => {
    const switched = await switchViews(session, schemas, viewNames(views), signal);
    return {
      detail: switched ? `${views} reads ${schemas.next}` : `${schemas.next} has fallen behind`,
      fields: { views, from: schemas.live, to: schemas.next, switched },
      value: switched,
    };
  });
}

/** Checks everything that can be checked before anything is started. */
async function checkSituation(parameters: UpgradeParameters) {
  const { session, databaseUrl, views, force, startIndexer, nextFor } = parameters;
  const { query } = session;
  const content = await contentOf(query, views);
  if (content !== undefined && content.tables.length > 0) throw notViews(views, content.tables);
  const live = await liveSchema(query, views);
  if (content === undefined || live === undefined) throw noViews(views);
  if (!content.isOurs) throw notOwner(views);
  const next = nextFor(live);
  const [before, after] = [await readIndexer(query, live), await readIndexer(query, next)];
  const value = { live, next, lastBeat: after?.heartbeatAt };
  if (live === next) return { detail: `${views} reads ${live} already`, fields: { live, next }, value };

  if (before !== undefined && after !== undefined) checkBuild(before, after, next, force);
  let room = "";
  if (startIndexer) {
    const found = await readRoom(query, live, databaseUrl);
    const issues = force ? [] : roomIssues(found);
    if (issues.length > 0) throw tooLittleRoom(issues);
    room = `; ${describeRoom(found)}`;
  }
  return { detail: `from ${live} to ${next}${room}`, fields: { live, next }, value };
}

/** Ponder refuses to index into tables of another build. With the same build the rows would be the same. */
function checkBuild(live: IndexerState, next: IndexerState, schema: string, force: boolean): void {
  if (live.build !== next.build || force) return;
  throw new TallystickError({
    code: "same_build",
    message: `The indexer of ${schema} has the build that already answers (${live.build}): nothing that affects rows differs.`,
    hint: `Nothing was switched. A change of the API alone needs no new schema: replace replicas one by one. --force switches anyway; \`tallystick upgrade --abandon ${schema}\` removes it.`,
  });
}

/**
 * Waits until no indexer holds the schema. After a crash a schema stays locked for a while. If an indexer still writes
 * to it, this throws, because no second indexer may start there.
 */
async function untilFree({ session, signal }: UpgradeParameters, schema: string): Promise<void> {
  let first: number | undefined;
  await lookAgain(
    async () => {
      const state = await readIndexer(session.query, schema);
      if (state === undefined || !isHeld(state, Date.now())) return true;
      first ??= state.heartbeatAt;
      if (state.heartbeatAt === first) return undefined;
      throw new TallystickError({
        code: "schema_in_use",
        message: `An indexer runs already that writes to ${schema}.`,
        hint: "Nothing was switched. With --follow-only the upgrade waits for that one instead of starting its own.",
      });
    },
    { what: `the lock of ${schema}`, withinMs: 60_000, everyMs: 500, signal },
  );
}

/** Waits until the new indexer has made its tables. Its start takes a while, also if somebody else starts it. */
async function untilIndexerIsThere(parameters: UpgradeParameters, { live, next }: Schemas): Promise<void> {
  const { session, signal, force, startIndexer } = parameters;
  const { before, after } = await lookAgain(
    async () => {
      const after = await readIndexer(session.query, next);
      return after && { after, before: await readIndexer(session.query, live) };
    },
    {
      what: `an indexer that writes to ${next}${startIndexer ? "" : ` (tallystick indexer --schema ${next})`}`,
      withinMs: 180_000,
      everyMs: 250,
      signal,
    },
  );
  if (before !== undefined) checkBuild(before, after, next, force);
}

/** Checks the replicas after the switch. A failure here does not undo the switch. */
async function checkReplicas(parameters: UpgradeParameters, { live, next }: Schemas): Promise<unknown> {
  const { session, report, views, replicas, signal, patience } = parameters;
  const look = <T>(work: () => Promise<T>) =>
    lookAgain(work, { what: "the database", withinMs: 60_000, everyMs: 500, signal });
  try {
    await report.step("replicas", async () => {
      const { replicasMs: withinMs } = patience ?? {};
      const answers = await askReplicas(session, { next, views }, replicas, { signal, withinMs });
      const readers = await look(() => readersOf(session.query, views));
      return {
        detail: `${answers.map(({ url, block }) => `${url} answers as of block ${block}`).join(", ")}; ${readers} read through ${views}`,
        fields: { answers, readers },
        value: undefined,
      };
    });
    if (live === next) return undefined;
    const direct = await look(async () => {
      const state = await readIndexer(session.query, live);
      const own = state && isHeld(state, Date.now()) ? 1 : 0;
      return (await readersOf(session.query, live)) - own;
    });
    if (direct > 0)
      report.note(
        `note: ${direct} more processes read the tables of ${live} themselves; start them again with DATABASE_SCHEMA=${views}`,
        { note: "direct_readers", schema: live, readers: direct },
      );
    return undefined;
  } catch (error) {
    return error;
  }
}

function describeDigests(found: Awaited<ReturnType<typeof compareDigests>>): string {
  if (found === null) return "no tick in common";
  if (found.old === found.new) return `equal at block ${found.block}: ${found.new}`;
  return `differ at block ${found.block}, as they should: ${found.old} was, ${found.new} is`;
}

function noViews(views: string): TallystickError {
  return new TallystickError({
    code: "no_views",
    message: `There are no views in ${views} that replicas could read through.`,
    hint: `Nothing was changed. Make them once: \`tallystick upgrade --make-views SCHEMA\`, where SCHEMA is the indexer's. Then start replicas with DATABASE_SCHEMA=${views}.`,
  });
}

function notOwner(views: string): TallystickError {
  return new TallystickError({
    code: "not_owner",
    message: `The user of DATABASE_URL does not own ${views}, so this user cannot switch the views.`,
    hint: "Nothing was changed. Run it as the user that made the views.",
  });
}

function tooLittleRoom(issues: InvalidInputError["issues"]): InvalidInputError {
  return new InvalidInputError({
    issues,
    code: "too_little_room",
    message: "There is too little room for a second indexer:",
    hint: "Nothing was changed. Make room, or continue anyway with --force.",
  });
}
