import { type DerivedNode, deriveInWorker } from "tallystick-sdk/openLog";

/**
 * The outcome of a page: the worker's result, the number of its progress messages, and how often the page could do
 * other work meanwhile.
 */
export type Outcome =
  | { derived: DerivedNode; progress: number; beats: number }
  | { code: string; message: string };

export type Task = {
  url: string;
  trustSignatures: boolean;
  /** The number of progress messages after which the page aborts; 0 for never. */
  abortAfter: number;
  /** Another program for the worker. */
  program?: string | undefined;
};

/** The script of a page. It derives a node's log in a worker. The test bundles it for the browser. */
export async function derive({ url, trustSignatures, abortAfter, program }: Task): Promise<Outcome> {
  const controller = new AbortController();
  let [progress, beats] = [0, 0];
  const timer = setInterval(() => beats++, 10);
  try {
    const derived = await deriveInWorker(url, {
      check: true,
      trustSignatures,
      signal: controller.signal,
      onProgress: () => {
        if (++progress === abortAfter)
          controller.abort(Object.assign(new Error("enough"), { code: "enough" }));
      },
      ...(program !== undefined && { startWorker: () => new Worker(program, { type: "module" }) }),
    });
    return { derived, progress, beats };
  } catch (error) {
    const { code, message } = Object(error);
    return { code, message };
  } finally {
    clearInterval(timer);
  }
}
