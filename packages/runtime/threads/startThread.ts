import { Worker, type WorkerOptions } from "node:worker_threads";

/** Node 24 and later read TypeScript themselves. A thread without a loader starts sooner and needs less memory. */
const readsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/** Memory of a thread's JavaScript, in MB. */
export type ThreadMemory = { heapMb: number };

/** Starts a thread that runs a TypeScript program. It does not keep the process alive. */
export function startThread(
  program: URL,
  { heapMb, ...options }: ThreadMemory & Pick<WorkerOptions, "workerData">,
): Worker {
  const worker = new Worker(program, {
    ...options,
    ...(readsTypeScript && { execArgv: [] }),
    // A small young generation is collected often, and keeps what dies young out of the old one.
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 },
  });
  worker.unref();
  return worker;
}
