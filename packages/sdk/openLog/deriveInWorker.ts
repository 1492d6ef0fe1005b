import { TallystickError } from "tallystick-protocol/errors";
import { abortable } from "../deadline.ts";
import type { DerivedNode, LogJob, LogMessage } from "./logWorker.ts";
import type { LogProgress } from "./nodeLog.ts";

export type DeriveInWorkerOptions = Omit<LogJob, "url"> & {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LogProgress) => void) | undefined;
  /** Starts the worker, for pages that serve its program from another place. */
  startWorker?: () => Worker;
};

/** The most lines of a log that are read by default. A browser tab has less memory than a process. */
const MAX_LINES = 2_000_000;

/**
 * Derives a node's log in a worker of the browser, so that the page stays responsive. Outside of browsers use
 * `deriveNode`. The worker ends with its work, and at once when the signal is aborted.
 *
 * @throws TallystickError as `deriveNode` does; `worker_failed` when the worker cannot be loaded or ends; the signal's
 * reason
 */
export async function deriveInWorker(
  url: string,
  { signal, onProgress, startWorker = startOwnWorker, most = MAX_LINES, ...job }: DeriveInWorkerOptions = {},
): Promise<DerivedNode> {
  signal?.throwIfAborted();
  const worker = startWorker();
  const derived = new Promise<DerivedNode>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: { data: LogMessage }) => {
      if (data.kind === "progress") onProgress?.(data.progress);
      else if (data.kind === "derived") resolve(data.derived);
      else reject(new TallystickError(data));
    });
    worker.addEventListener("error", ({ message }) => reject(workerFailed(message)));
    worker.addEventListener("messageerror", () => reject(workerFailed("its answer cannot be read")));
  });
  try {
    worker.postMessage({ url, most, ...job } satisfies LogJob);
    return await (signal === undefined ? derived : abortable(derived, signal));
  } finally {
    worker.terminate();
  }
}

/** Bundlers recognize a worker only in exactly this form. */
function startOwnWorker(): Worker {
  return new Worker(new URL("./logWorker.js", import.meta.url), { type: "module" });
}

function workerFailed(message: string | undefined): TallystickError {
  return new TallystickError({
    code: "worker_failed",
    message: `The worker that derives the log has ended: ${message || "its program was not found"}.`,
    hint: "Give startWorker if the worker's program is not in the same folder as this file.",
  });
}
