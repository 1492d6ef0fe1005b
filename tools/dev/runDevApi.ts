import path from "node:path";
import { describeError } from "../../scripts/cli/printError.ts";
import { createProgress } from "../../scripts/cli/progress.ts";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import { compiledOnce, nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { type Service, startService } from "../../scripts/processes/startService.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { followLog } from "./followLog.ts";
import { type GivenDatabase, nodeToServe } from "./nodeToServe.ts";
import { repeatOnChange } from "./repeatOnChange.ts";
import type { ServedNode } from "./serveApi.ts";

/** The sources of the API, without packages of npm. */
const WATCHED = ["indexer/api", "packages/protocol", "packages/derive", "packages/runtime"];

const NAME = "API";

/**
 * Serves the API over a running node's rows, and starts it again when its code changes, until the process gets a signal.
 * If the API does not start, this shows the error and waits for the next change.
 *
 * @param options.port default: any free port, which stays the same after every change
 * @returns the exit code
 * @throws TallystickError when there is no node to serve
 */
export async function runDevApi({
  port: wanted,
  ...given
}: GivenDatabase & { port?: number }): Promise<number> {
  const node = await nodeToServe(given);
  const port = wanted ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const progress = createProgress();
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  /** Set while the API answers. */
  let stopFollowing: (() => void) | undefined;
  let rounds = 0;

  return await repeatOnChange(
    WATCHED.map((it) => path.join(repositoryRoot, it)),
    async ({ supervisor, folder, changed, signal }) => {
      if (rounds === 0) {
        const { host, pathname } = new URL(node.databaseUrl);
        say(`Rows of the schema ${node.databaseSchema} in ${host}${pathname}`);
        supervisor.onExit(({ code, signal: killedBy }) => {
          if (stopFollowing === undefined) return;
          stopFollowing();
          stopFollowing = undefined;
          if (!signal.aborted)
            say(`The API ended with ${killedBy ?? `code ${code}`}. It starts again with the next change.`);
        });
      } else say(`\nChanged: ${changed.map((it) => path.relative(repositoryRoot, it)).join(", ")}`);
      stopFollowing?.();
      stopFollowing = undefined;
      await supervisor.stop(NAME);
      const service = apiService({ port, ...node }, path.join(folder, `api-${++rounds}.log`));
      try {
        await progress.step(NAME, async () => {
          await startService(supervisor, service, signal);
          return { detail: `${url}/graphql`, value: undefined };
        });
      } catch (error) {
        if (signal.aborted) throw error;
        say(`${describeError(error)}\nIt starts again with the next change.`);
        return;
      }
      stopFollowing = followLog(service.logFile, (text) => void process.stderr.write(text));
      if (rounds === 1) process.stdout.write(`${JSON.stringify({ listening: url })}\n`);
    },
  );
}

function apiService(node: ServedNode, logFile: string): Service {
  return {
    name: NAME,
    command: process.execPath,
    args: nodeProgram("tools/dev/serveApi.ts"),
    cwd: repositoryRoot,
    // An environment variable, because every user of the machine can read arguments.
    env: childEnvironment({ ...compiledOnce, SERVED_NODE: JSON.stringify(node) }),
    logFile,
    isReady: async (signal) => (await fetch(`http://127.0.0.1:${node.port}/`, { signal })).ok,
    // The API normally answers within a second. If it does not, the change is at fault.
    readyWithinMs: 30_000,
    stop: [{ signal: "SIGTERM", waitMs: 500 }],
  };
}
