import { type Finding, fails } from "./check.ts";
import type { VerifyJob, VerifyWord } from "./verifyWorker.ts";

/**
 * Verifies in a worker, so that the page stays responsive. The worker ends when its work is done or the
 * signal is aborted.
 *
 * @param onProgress called with the share that is done, 0 to 1
 */
export function verifyInWorker(
  job: VerifyJob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (share: number) => void },
): Promise<Finding> {
  const worker = new Worker(new URL("./verifyWorker.ts", import.meta.url), { type: "module" });
  return new Promise<Finding>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: { data: VerifyWord }) => {
      if (data.kind === "progress") onProgress(data.share);
      else resolve(data.finding);
    });
    worker.addEventListener("error", ({ message }) =>
      resolve({
        title: "The verification could not begin",
        checks: [
          fails("The worker's program could not be loaded", message || "Is the page's server still there?"),
        ],
      }),
    );
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    worker.postMessage(job);
  }).finally(() => worker.terminate());
}
