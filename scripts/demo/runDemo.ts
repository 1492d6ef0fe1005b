import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { printError } from "../cli/printError.ts";
import { createProgress } from "../cli/progress.ts";
import { type Shutdown, StoppedBySignal, watchShutdown } from "../cli/shutdown.ts";
import { isPortFree } from "../processes/freePort.ts";
import { openSupervisor, type Supervisor } from "../processes/openSupervisor.ts";
import { serviceError } from "../processes/startService.ts";
import { followRealTime } from "./followRealTime.ts";
import { keepText, resultJson, resultText } from "./printResult.ts";
import { announceNode, createRunFolder } from "./runFolder.ts";
import { runStory } from "./runStory.ts";
import { startDemoNode } from "./startDemoNode.ts";
import { leaveEscrow } from "./story/leaveEscrow.ts";

/** How to run the demo. */
export type DemoOptions = {
  /** Leave the node running until a signal comes. */
  keep?: boolean;
  /** Print the result as JSON. */
  json?: boolean;
  /** The port of GraphQL; default any free one. */
  port?: number;
};

/**
 * Starts a node, plays the story, reads everything back, prints it, and ends the node.
 *
 * @returns the exit code: 0 if all results are as expected, 1 if not, 128 plus the signal's number after a
 * signal
 */
export async function runDemo({ keep = false, json = false, port }: DemoOptions): Promise<number> {
  const began = performance.now();
  if (port !== undefined && !(await isPortFree(port))) {
    throw new TallystickError({
      code: "port_in_use",
      message: `Port ${port} of 127.0.0.1 is taken.`,
      hint: "Give another port by --port, or leave --port out.",
    });
  }
  const shutdown = watchShutdown();
  const { signal } = shutdown;
  const progress = createProgress();
  const folder = await createRunFolder();
  const supervisor = await openSupervisor();
  const stopWatching = failWhenOneEnds(supervisor, shutdown, path.join(folder, "logs"));
  const close = async () => {
    stopWatching();
    await progress.step("stop", async () => ({
      detail: "nothing left running",
      value: await supervisor.close(),
    }));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    progress.heading("A node of your own");
    const node = await startDemoNode({
      supervisor,
      folder,
      progress,
      signal,
      ...(port !== undefined && { port }),
    });
    progress.heading("Agents at work");
    const result = await runStory(node, progress, signal);
    const seconds = (performance.now() - began) / 1000;
    if (keep) await followRealTime(node.rpcUrl);
    const escrow = keep ? (await leaveEscrow(node, signal)).id : null;
    if (keep) await announceNode(folder, node);
    const text = json
      ? JSON.stringify(resultJson(node, result, seconds), null, 2)
      : resultText(node, result, keep) + (escrow === null ? "" : `\n${keepText(node, escrow)}`);
    process.stdout.write(`${text}\n`);
    if (keep) await untilAborted(signal);
    await close();
    const hint = json ? "" : " To keep the node running: npm run demo -- --keep";
    process.stderr.write(
      `\nAll results were read back and are as expected. This took ${seconds.toFixed(0)} s.${hint}\n`,
    );
    return 0;
  } catch (error) {
    // After a signal, running work fails in many ways. The signal is the cause that counts.
    const cause: unknown = signal.aborted ? signal.reason : error;
    if (cause instanceof StoppedBySignal) {
      process.stderr.write("\n");
      await close();
      return cause.exitCode;
    }
    printError(cause);
    process.stderr.write(`  logs: ${path.join(folder, "logs")}\n`);
    stopWatching();
    await supervisor.close();
    return 1;
  } finally {
    shutdown.release();
  }
}

/** Waits for the signal. Child processes do not keep this process alive, so this function does. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  await sleep(2 ** 31 - 1, undefined, { signal }).catch(() => {});
  throw signal.reason;
}

/** Ends the demo if a service ends during the story: that is the cause of every failure that follows. */
function failWhenOneEnds(supervisor: Supervisor, shutdown: Shutdown, logs: string): () => void {
  return supervisor.onExit(({ name, code, signal }) => {
    if (name === "initdb") return;
    shutdown.fail(
      serviceError(
        { name, logFile: path.join(logs, `${name}.log`) },
        `${name} ended with ${signal ?? `code ${code}`}`,
      ),
    );
  });
}
