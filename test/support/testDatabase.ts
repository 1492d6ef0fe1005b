import { type PostgresServer, startPostgres } from "../../scripts/postgres/startPostgres.ts";

let running: Promise<PostgresServer> | undefined;
let databases = 0;
const closing: (() => Promise<unknown>)[] = [];

/** Creates an empty database and returns its URL. All test files of a process share one PostgreSQL. */
export async function testDatabase(): Promise<string> {
  running ??= startPostgres();
  const server = await running;
  return await server.createDatabase(`test_${++databases}`);
}

/** Calls `close` after all tests of the process, before the PostgreSQL server stops. */
export function beforeServerStops(close: () => Promise<unknown>): void {
  closing.push(close);
}

after(async () => {
  for (const close of closing) await close();
  const server = await running?.catch(() => undefined);
  await server?.stop();
});
