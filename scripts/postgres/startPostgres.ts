import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";
import { childEnvironment } from "../processes/childEnvironment.ts";
import { freePort } from "../processes/freePort.ts";
import { logTail } from "../processes/logTail.ts";
import type { ProcessSpec } from "../processes/messages.ts";
import { openSupervisor, type Supervisor } from "../processes/openSupervisor.ts";
import { runToEnd } from "../processes/runToEnd.ts";
import { startService } from "../processes/startService.ts";
import { isReachableBy, type OsUser, postgresUser } from "./osUser.ts";
import { reachablePostgres } from "./postgresBinaries.ts";
import { runningServer } from "./postmasterPid.ts";

/** How {@link startPostgres} starts the server. */
export type StartPostgresParameters = {
  /** The supervisor that runs the server; without one the server gets its own. */
  supervisor?: Supervisor;
  /**
   * Keeps the database in this folder (in `data/`) for the next start, and joins a server that already runs
   * on it. Without a folder the database is temporary: it does not use fsync, and is removed at the end.
   */
  folder?: string;
  /** The server's log file. Default `postgres.log` in its folder. */
  logFile?: string;
  /** The port; default a free one. */
  port?: number;
  signal?: AbortSignal;
};

/** A running PostgreSQL server. */
export type PostgresServer = {
  port: number;
  /** pid of the postmaster. */
  pid: number;
  /** Whether the server was already running; then `stop` does not end it. */
  joined: boolean;
  /** The URL (`postgres://…`) of a database on the server; default the maintenance database `postgres`. */
  url: (database?: string) => string;
  /** Creates an empty database and returns its URL. */
  createDatabase: (name: string) => Promise<string>;
  stop: () => Promise<void>;
};

const USER = "tallystick";

/** A busy machine may need many seconds for a new connection, although the server runs. */
const PATIENCE_MS = 60_000;

/**
 * The cost of a random read on a solid-state disk. With the default of 4, the planner lets an indexer's
 * updates read whole tables instead of a few rows.
 */
const ON_SOLID_STATE = ["-c", "random_page_cost=1.1"];

/**
 * A temporary database need not survive a power cut. Without fsync the tests and the demo are much faster.
 */
const THROW_AWAY = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"];

/**
 * Starts a real PostgreSQL on a free port of 127.0.0.1, with the programs that npm installed. The server ends
 * with this process, even if SIGKILL ends the process.
 *
 * @throws TallystickError `service_failed`, `no_os_user`, `no_postgres_binaries`, `folder_not_reachable`
 */
export async function startPostgres(parameters: StartPostgresParameters = {}): Promise<PostgresServer> {
  const { folder, signal } = parameters;
  if (folder !== undefined) {
    const running = await joinRunning(folder);
    if (running) return running;
  }
  const supervisor = parameters.supervisor ?? (await openSupervisor());
  try {
    const user = postgresUser();
    const work = await temporaryFolder(user);
    await supervisor.removeAtEnd(work);
    const home = folder === undefined ? work : await persistentFolder(folder, user);
    const logFile = parameters.logFile ?? path.join(home, "postgres.log");
    const programs = await reachablePostgres(user, work);
    const spec = (name: string, program: string, args: string[]): ProcessSpec => ({
      name,
      command: path.join(programs, "bin", process.platform === "win32" ? `${program}.exe` : program),
      args,
      cwd: work,
      // One locale that every machine has, so that sorting and messages are the same everywhere.
      env: childEnvironment({ LC_ALL: "C", LANG: "C", TZ: "UTC" }),
      logFile,
      ...(user && { user }),
      stop: [
        { signal: "SIGINT", waitMs: 8_000 },
        { signal: "SIGQUIT", waitMs: 3_000 },
      ],
      stopAlone: true,
    });

    const dataFolder = path.join(home, "data");
    if (!existsSync(dataFolder)) await initialise(supervisor, home, user, spec);
    const password = (await readFile(path.join(home, "password"), "utf8")).trim();

    for (let attempt = 1; ; attempt++) {
      const port = parameters.port ?? (await freePort());
      const url = urlOf(port, password);
      const flags = ["-D", dataFolder, "-p", String(port), "-c", "listen_addresses=127.0.0.1"];
      flags.push("-c", "unix_socket_directories=", "-c", "timezone=UTC", "-c", "log_timezone=UTC");
      flags.push(...ON_SOLID_STATE);
      if (folder === undefined) flags.push(...THROW_AWAY);
      try {
        const service = {
          ...spec("postgres", "postgres", flags),
          isReady: () => answers(url()),
        };
        const pid = await startService(supervisor, service, signal);
        const stop = () => (parameters.supervisor ? supervisor.stop("postgres") : supervisor.close());
        return { port, pid, joined: false, url, createDatabase: createDatabaseOn(url), stop };
      } catch (error) {
        // Another process took the port after we saw that it was free.
        if (attempt < 5 && logTail(logFile, 10).includes("could not bind")) continue;
        throw error;
      }
    }
  } catch (error) {
    if (!parameters.supervisor) await supervisor.close();
    throw error;
  }
}

type SpecOf = (name: string, program: string, args: string[]) => ProcessSpec;

async function initialise(
  supervisor: Supervisor,
  home: string,
  user: OsUser | undefined,
  spec: SpecOf,
): Promise<void> {
  const passwordFile = path.join(home, "password");
  await writeFile(passwordFile, `${randomBytes(18).toString("hex")}\n`, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  // The database is first made under another name. A start that is interrupted then leaves nothing that looks
  // like a database.
  const unfinished = path.join(home, "data.new");
  await rm(unfinished, { recursive: true, force: true });
  const args = [`--pgdata=${unfinished}`, `--username=${USER}`, `--pwfile=${passwordFile}`];
  args.push("--auth=scram-sha-256", "--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions");
  await runToEnd(supervisor, spec("initdb", "initdb", args));
  await rename(unfinished, path.join(home, "data"));
}

async function temporaryFolder(user: OsUser | undefined): Promise<string> {
  // TMPDIR of root may be a folder that only root can enter, so the server's user could not use it.
  const places = user
    ? [tmpdir(), "/tmp", "/var/tmp"].filter((place) => isReachableBy(user, place))
    : [tmpdir()];
  const folder = await mkdtemp(path.join(places[0] ?? tmpdir(), "tallystick-postgres-"));
  if (user) await chown(folder, user.uid, user.gid);
  return folder;
}

async function persistentFolder(folder: string, user: OsUser | undefined): Promise<string> {
  const home = path.resolve(folder);
  await mkdir(home, { recursive: true, mode: 0o700 });
  if (!user) return home;
  await chown(home, user.uid, user.gid);
  if (isReachableBy(user, home)) return home;
  throw new TallystickError({
    code: "folder_not_reachable",
    message: `PostgreSQL cannot run as root, and its OS user cannot enter ${home}.`,
    hint: "Choose a folder below one that everybody may enter, such as /var/lib/tallystick.",
  });
}

/** A server that still runs on this folder, for example after its supervisor was killed. */
async function joinRunning(folder: string): Promise<PostgresServer | undefined> {
  const running = await runningServer(path.join(folder, "data"));
  if (!running) return undefined;
  const password = (await readFile(path.join(folder, "password"), "utf8").catch(() => "")).trim();
  const url = urlOf(running.port, password);
  if (!(await answers(url()).catch(() => false))) return undefined;
  return { ...running, joined: true, url, createDatabase: createDatabaseOn(url), stop: async () => {} };
}

function urlOf(port: number, password: string): (database?: string) => string {
  return (database = "postgres") =>
    `postgres://${USER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

function createDatabaseOn(url: (database?: string) => string): (name: string) => Promise<string> {
  return async (name) => {
    await withClient(url(), PATIENCE_MS, (client) =>
      client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`),
    );
    return url(name);
  };
}

async function answers(url: string): Promise<boolean> {
  await withClient(url, 3_000, (client) => client.query("SELECT 1"));
  return true;
}

async function withClient(
  url: string,
  connectMs: number,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  client.on("error", () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
