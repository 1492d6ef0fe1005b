import { mkdir } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { buildVersion } from "../../indexer/buildVersion.ts";
import { indexerVariables, readConfig } from "../../indexer/config.ts";
import { printError } from "../cli/printError.ts";
import { type Shutdown, untilAborted, watchShutdown } from "../cli/shutdown.ts";
import { openSupervisor, type Supervisor } from "../processes/openSupervisor.ts";
import { serviceError, startService } from "../processes/startService.ts";
import { checkNode } from "../start/checkNode.ts";
import type { NodeEnvironment } from "../start/nodeEnvironment.ts";
import { indexerOf } from "../start/nodeServices.ts";
import { pick } from "../start/processEnvironment.ts";
import { readSettings } from "../start/readSettings.ts";
import { requireFreePorts } from "../start/requireFreePorts.ts";
import { urlOf } from "../start/urlOf.ts";
import { dropOld, dropSchema } from "./dropSchema.ts";
import { contentOf, isHeld, liveSchema, readIndexer } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import { makeViews } from "./makeViews.ts";
import { openUpgradeSession, type UpgradeSession } from "./openUpgradeSession.ts";
import { indexerSchemas } from "./readersOf.ts";
import { checkSchemaNames, type ViewNames, viewNames } from "./schemaNames.ts";
import { type Upgraded, upgrade } from "./upgrade.ts";
import { createUpgradeReport, type UpgradeReport } from "./upgradeReport.ts";

/** The options of the command. */
export type UpgradeOptions = {
  envFile?: string;
  schema?: string;
  views?: string;
  port: number;
  host?: string;
  logs: string;
  followOnly?: boolean;
  force?: boolean;
  rulesChanged?: boolean;
  replica: string[];
  within: number;
  json?: boolean;
  makeViews?: string;
  abandon?: string;
  dropOld?: boolean;
};

type Run = {
  options: UpgradeOptions;
  node: NodeEnvironment;
  session: UpgradeSession;
  report: UpgradeReport;
  views: ViewNames;
  shutdown: Shutdown;
};

/**
 * Runs `tallystick upgrade`.
 *
 * @returns the exit code
 * @throws TallystickError or InvalidInputError; then nothing was switched
 */
export async function runUpgrade(options: UpgradeOptions): Promise<number> {
  const { schema, abandon, makeViews: first } = options;
  // A bad name is a mistake in any case, so names are checked before the settings are read.
  checkSchemaNames({
    "--schema": schema,
    "--abandon": abandon,
    "--make-views": first,
    "--views": options.views,
  });
  const node = await readSettings(options.envFile, "indexer", {
    DATABASE_SCHEMA: schema,
    INDEXER_PORT: String(options.port),
    INDEXER_HOST: options.host,
  });
  const live = options.views ?? node.environment.VIEWS_SCHEMA ?? "tallystick_live";
  checkSchemaNames({ VIEWS_SCHEMA: live });
  const views = viewNames(live);
  checkSchemaNames({ "--schema": schema, "--abandon": abandon, "--make-views": first }, views);
  const report = createUpgradeReport(options);
  const shutdown = watchShutdown();
  try {
    const session = await openUpgradeSession({
      databaseUrl: node.environment.DATABASE_URL ?? "",
      views: live,
    });
    try {
      const run = { options, node, session, report, views, shutdown };
      if (abandon !== undefined) return await abandonSchema(run, abandon);
      if (first !== undefined) return await makeFirstViews(run, first);
      return options.dropOld ? await dropWhatWasBefore(run) : await upgradeNode(run);
    } finally {
      await session.close();
    }
  } catch (error) {
    const code = shutdown.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    shutdown.release();
  }
}

async function upgradeNode(run: Run): Promise<number> {
  const { options, node, session, report, views, shutdown } = run;
  const { signal } = shutdown;
  await checkNode(node.environment);
  const next = options.schema ?? nameOf(node, views);
  const supervisor = options.followOnly ? undefined : await openSupervisor();
  try {
    let upgraded: Upgraded;
    try {
      upgraded = await upgrade({
        session,
        report,
        databaseUrl: node.environment.DATABASE_URL ?? "",
        views: views.live,
        nextFor: () => next,
        startIndexer: supervisor && ((schema) => startIndexer(run, supervisor, schema)),
        replicas: options.replica,
        force: options.force ?? false,
        rulesChanged: options.rulesChanged ?? false,
        withinMs: options.within * 60_000,
        signal,
      });
    } catch (error) {
      await sayWhatIsLeft(run, next);
      throw error;
    }
    await sayWhatRemains(run, upgraded);
    if (upgraded.replicasError !== undefined && !signal.aborted) printError(upgraded.replicasError);
    const failed = upgraded.replicasError === undefined ? 0 : 1;
    if (supervisor === undefined || !upgraded.switched) return failed;
    // Replicas read what this indexer writes, so it runs until somebody stops it.
    await session.close();
    await untilAborted(signal);
    const code = shutdown.exitCode();
    if (code === undefined) throw signal.reason;
    return failed || code;
  } finally {
    await supervisor?.close();
  }
}

/**
 * The name of the new schema. Each build has its own schema. When the same build runs again, it finds the same schema.
 */
function nameOf({ environment }: NodeEnvironment, views: ViewNames): string {
  const config = readConfig(pick(environment, (name) => indexerVariables.includes(name)));
  return views.next.replace(/next$/, buildVersion(config).slice(0, 8));
}

async function startIndexer(
  { options, node, shutdown }: Run,
  supervisor: Supervisor,
  schema: string,
): Promise<void> {
  const { indexerHost: host, indexerPort: port } = node;
  await requireFreePorts([{ field: "--port", host, port }]);
  const logs = path.resolve(options.logs);
  await mkdir(logs, { recursive: true });
  const itsOwn = { ...node, environment: { ...node.environment, DATABASE_SCHEMA: schema } };
  const service = indexerOf(itsOwn, logs, { name: `indexer-${port}` });
  supervisor.onExit(({ name, code, signal }) => {
    if (name === service.name)
      shutdown.fail(serviceError(service, `${name} ended with ${signal ?? `code ${code}`}`));
  });
  await startService(supervisor, service, shutdown.signal);
}

/**
 * Called after a failure or Ctrl-C. The views that replicas read were not changed, unless the switch
 * succeeded and only its confirmation was lost.
 */
async function sayWhatIsLeft({ session, report, views }: Run, next: string): Promise<void> {
  const found = await liveSchema(session.query, views.live).then(
    (live) => ({ live }),
    () => undefined,
  );
  if (found?.live === next) {
    report.note(
      `${views.live} reads ${next}, but this command does not index into it now: start \`tallystick indexer --schema ${next}\` or the node.`,
      { step: "stopped", live: next, left: null },
    );
  } else if (found === undefined) {
    report.note(
      "The database does not answer, so its state is unknown. To continue, run the same command again.",
      {
        step: "stopped",
        live: null,
        left: null,
      },
    );
  }
  if (found?.live === undefined || found.live === next) return;
  const { live } = found;
  const there = await contentOf(session.query, next).catch(() => undefined);
  const left = there === undefined ? null : next;
  report.note(
    `Nothing was switched: ${views.live} reads ${live}.${left === null ? "" : ` The tables of ${next} are kept. To continue, run the same command again. To drop them: \`tallystick upgrade --abandon ${next}\`.`}`,
    { step: "stopped", live, left },
  );
}

/**
 * The state of the database after a switch; undefined if the database does not answer. The indexer continues
 * then, because replicas read its rows now.
 */
async function lookAround({ session, views }: Run, next: string) {
  const look = async () => {
    const old = await liveSchema(session.query, views.before);
    const others = (await indexerSchemas(session.query)).filter((it) => it !== next && it !== old);
    const state = await readIndexer(session.query, next);
    return { old, others, isIndexed: state !== undefined && isHeld(state, Date.now()) };
  };
  const { signal } = new AbortController();
  return lookAgain(look, { what: "the database", withinMs: 60_000, everyMs: 500, signal }).catch(
    () => undefined,
  );
}

async function sayWhatRemains(run: Run, { next, switched }: Upgraded): Promise<void> {
  const { report, node, options } = run;
  const found = await lookAround(run, next);
  const { old, others = [], isIndexed = null } = found ?? {};
  const runsHere = switched && !options.followOnly;
  const todo = [
    `Set DATABASE_SCHEMA=${next} in .env, so that the next start continues there.`,
    ...(runsHere
      ? [
          `The new indexer runs as long as this command, on ${urlOf(node.indexerHost, node.indexerPort)}. To run it elsewhere, stop this command by Ctrl-C, and start \`tallystick indexer --schema ${next}\` or the node. Replicas answer meanwhile.`,
        ]
      : []),
    ...(found === undefined
      ? ["The database does not answer, so nothing is known about its other schemas."]
      : []),
    ...(isIndexed === false
      ? [`Nobody indexes into ${next} now. Start \`tallystick indexer --schema ${next}\` or the node.`]
      : []),
    ...(old === undefined
      ? []
      : [`${old} is kept. Stop its indexer, then: \`tallystick upgrade --drop-old\`.`]),
    ...(others.length === 0
      ? []
      : [
          `Other indexers' schemas are in this database: ${others.join(", ")}. \`tallystick upgrade --abandon SCHEMA\` drops one.`,
        ]),
  ];
  report.note(todo.join("\n"), {
    step: "done",
    live: next,
    switched,
    indexed: isIndexed,
    old: old ?? null,
    others,
  });
}

/** @throws TallystickError `schema_of_settings` if the settings name this schema */
function checkNotOfSettings({ node }: Run, schema: string | undefined): void {
  if (schema !== (node.environment.DATABASE_SCHEMA ?? "tallystick")) return;
  throw new TallystickError({
    code: "schema_of_settings",
    message: `${schema} is DATABASE_SCHEMA of the settings: the next start of the node continues there.`,
    hint: "Nothing was dropped. Name another schema in the settings first.",
  });
}

async function abandonSchema(run: Run, schema: string): Promise<number> {
  const { session, report, views, shutdown } = run;
  checkNotOfSettings(run, schema);
  await report.step("abandon", async () => {
    const dropped = await dropSchema(session, schema, views, shutdown.signal);
    return {
      detail: dropped ? `${schema} is gone` : `there is no ${schema}`,
      fields: { schema, dropped },
      value: undefined,
    };
  });
  return 0;
}

async function dropWhatWasBefore(run: Run): Promise<number> {
  const { session, report, views, shutdown } = run;
  // After a switch, the settings name the old schema until the operator changes them.
  checkNotOfSettings(run, await liveSchema(session.query, views.before));
  await report.step("drop-old", async () => {
    const dropped = await dropOld(session, views, shutdown.signal);
    const detail = dropped.length === 0 ? "nothing was left" : `${dropped.join(" and ")} are gone`;
    return { detail, fields: { dropped }, value: undefined };
  });
  return 0;
}

async function makeFirstViews({ session, report, views, shutdown }: Run, schema: string): Promise<number> {
  await report.step("make-views", async () => {
    const made = await makeViews(session, schema, views, shutdown.signal);
    const detail = made ? `${views.live} reads ${schema}` : `${views.live} reads ${schema} already`;
    return { detail, fields: { views: views.live, schema, made }, value: undefined };
  });
  return 0;
}
