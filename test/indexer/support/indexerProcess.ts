import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import type { Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { ponderInCheckout } from "../../../scripts/processes/ponderInCheckout.ts";
import { ponderSettings } from "../../../scripts/processes/ponderProgram.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/**
 * An indexer counts its database as away if the database does not answer for some seconds, and refuses requests then. On
 * a busy machine this happens, so a request of a test is repeated for this long.
 */
const BUSY_MS = 120_000;

/**
 * How often a node asks for the newest block, and how often a test asks a node, in milliseconds. Most tests wait for much
 * longer. Each question costs both processes some milliseconds of processor time.
 */
const ASK_MS = 250;

/** Sends a request, and sends it again while the indexer refuses because its machine is busy. */
export async function fetchWhenServed(url: string, init?: RequestInit): Promise<Response> {
  for (const over = performance.now() + BUSY_MS; ; await sleep(200)) {
    const response = await fetch(url, init);
    if (response.status !== 503 || performance.now() > over) return response;
    await response.body?.cancel();
  }
}

export type IndexerProcess = Awaited<ReturnType<typeof startIndexer>>;

/**
 * Starts the real indexer: Ponder as a separate process. It counts as started when its HTTP server answers, ready or
 * not.
 */
export async function startIndexer(
  supervisor: Supervisor,
  logFolder: string,
  environment: Record<string, string>,
  name = "indexer",
  command: "start" | "serve" = "start",
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = path.join(logFolder, `${name}.log`);
  const pid = await startService(supervisor, {
    name,
    command: process.execPath,
    args: ponderInCheckout(command, { hostname: "127.0.0.1", port }),
    cwd: repositoryRoot,
    env: childEnvironment({
      ...ponderSettings,
      DATABASE_SCHEMA: "tallystick",
      POLLING_INTERVAL_MS: String(ASK_MS),
      INDEXER_PORT: String(port),
      ...environment,
    }),
    logFile,
    isReady: async (signal) => (await fetch(`${url}/health`, { signal })).ok,
    // A test has a time limit of its own. A soak on a busy machine has only this one.
    readyWithinMs: 600_000,
    // A killed indexer keeps its schema locked. On a busy machine a normal end takes long.
    stop: [{ signal: "SIGTERM", waitMs: 60_000 }],
  });

  /** Asks GraphQL and gives `data`, in the type that the test gives. */
  const query = async <Data>(text: string, variables: Record<string, unknown> = {}): Promise<Data> => {
    const response = await fetchWhenServed(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: text, variables }),
    });
    const answer = (await response.json()) as { data?: Data; errors?: unknown };
    if (answer.errors !== undefined || answer.data === undefined)
      throw new Error(JSON.stringify(answer.errors));
    return answer.data;
  };
  const until = <T>(what: string, look: () => Promise<T | undefined | false>, withinMs = 180_000) =>
    waitUntil(look, { what, withinMs, everyMs: ASK_MS });

  return {
    url,
    query,
    until,
    log: () => readFileSync(logFile, "utf8"),
    /** Waits until the tick of a block, or of a later block, is derived. */
    untilTick: (block: bigint) =>
      until(`the tick of block ${block}`, async () => {
        const { meta } = await query<{ meta: { block: number; digest: string } }>(
          "{ meta { block digest } }",
        );
        return meta.block >= Number(block) && meta;
      }),
    stop: () => supervisor.stop(name),
    /** Kills the process of the indexer. */
    kill: () => process.kill(pid, "SIGKILL"),
  };
}
