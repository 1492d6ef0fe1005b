import { Worker, type WorkerOptions } from "node:worker_threads";

/** Node 24 and later read TypeScript themselves. A thread without a loader starts sooner and needs less memory. */
const readsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/** Memory of a thread's JavaScript, in MB. A small young generation is collected often, and takes little. */
export type ThreadMemory = { heapMb: number; youngMb: number };

/** Starts a thread that runs a TypeScript program. It does not keep the process alive. */
export function startThread(
  program: URL,
  { heapMb, youngMb, ...options }: ThreadMemory & Pick<WorkerOptions, "workerData">,
): Worker {
  const worker = new Worker(program, {
    ...options,
    ...(readsTypeScript && { execArgv: [] }),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
  });
  worker.unref();
  return worker;
}
