import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { watchShutdown } from "../../scripts/cli/shutdown.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { watchFiles } from "./watchFiles.ts";

/** The parameters of one round of work. */
export type Round = {
  /** Starts processes. They may run on until the next round. They end after the last round at the latest. */
  supervisor: Supervisor;
  /** For logs and results; removed at the end. */
  folder: string;
  /** The files that changed since the round before; none in the first. */
  changed: string[];
  signal: AbortSignal;
};

/**
 * Runs work, and runs it again whenever a watched file changes, until the process is told to stop. A change during the
 * work belongs to the next round.
 *
 * @param watched files and folders, absolute
 * @returns the exit code for the signal that came
 * @throws what `work` throws; TallystickError `cannot_watch`
 */
export async function repeatOnChange(
  watched: readonly string[],
  work: (round: Round) => Promise<void>,
): Promise<number> {
  const files = await watchFiles(watched);
  const shutdown = watchShutdown();
  const { signal } = shutdown;
  const supervisor = await openSupervisor();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  stopped.catch(() => {});
  try {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-dev-"));
    await supervisor.removeAtEnd(folder);
    for (let changed: string[] = []; ; changed = await files.next(signal)) {
      await Promise.race([work({ supervisor, folder, changed, signal }), stopped]);
    }
  } catch (error) {
    const code = shutdown.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    files.close();
    await supervisor.close();
    shutdown.release();
  }
}
