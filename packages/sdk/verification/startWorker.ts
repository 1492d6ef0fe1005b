/** A worker as `verifyApart` uses it, in Node or in a browser. */
export type StartedWorker = {
  post: (message: unknown) => void;
  /** `keepsAlive`: whether the process must not end before the worker. */
  hold: (keepsAlive: boolean) => void;
  end: () => void;
};

/** The events of a worker: a message, or the reason why it ended. */
export type WorkerEvents = {
  message: (message: unknown) => void;
  ended: (reason: "out_of_memory" | string) => void;
};

/** The most memory of a worker, in MB. Node enforces it, and browsers have their own limits. */
const MEMORY_MB = 256;

/**
 * Starts a worker with a memory limit. Undefined on platforms without workers, such as edge runtimes.
 *
 * @param program replaces the program of the verification: for tests
 */
export function startWorker(events: WorkerEvents, program?: URL): StartedWorker | undefined {
  const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (threads) {
    const isSource = import.meta.url.endsWith(".ts");
    const own = new URL(`./verificationWorker.${isSource ? "ts" : "js"}`, import.meta.url);
    const worker = new threads.Worker(program ?? own, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 32 },
      // What the worker prints is dropped, because it may contain a stranger's text.
      stdout: true,
      stderr: true,
    });
    worker.unref();
    worker.on("message", events.message);
    worker.on("messageerror", (error) => events.ended(error.message));
    worker.on("error", (error) => {
      const { code, message } = Object(error) as { code?: string; message?: string };
      events.ended(code === "ERR_WORKER_OUT_OF_MEMORY" ? "out_of_memory" : String(message ?? error));
    });
    worker.on("exit", (code) => events.ended(`exit code ${code}`));
    return {
      post: (message) => worker.postMessage(message),
      hold: (keepsAlive) => (keepsAlive ? worker.ref() : worker.unref()),
      end: () => void worker.terminate(),
    };
  }
  if (typeof Worker === "undefined") return undefined;
  const worker = program
    ? new Worker(program, { type: "module" })
    : new Worker(new URL("./verificationWorker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => events.message(data));
  worker.addEventListener("error", ({ message }) => events.ended(message));
  return {
    post: (message) => worker.postMessage(message),
    hold: () => undefined,
    end: () => worker.terminate(),
  };
}
