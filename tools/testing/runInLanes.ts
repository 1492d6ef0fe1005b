import type { Results } from "./closeOf.ts";
import type { StepResult } from "./runStep.ts";
import { BUILD, type TestStep } from "./steps.ts";

export type RunInLanesParameters = {
  /** How many steps run at one time. */
  lanes: number;
  /** Whether the machine has room for one more step. It is called again and again. By default there is never more room. */
  hasRoom?: () => boolean;
  /** The time between two calls of `hasRoom`, in milliseconds. The default is {@link ASK_MS}. */
  askMs?: number;
  /** No further step begins after this signal is aborted. */
  signal: AbortSignal;
  /** Receives the results, in the order in which the steps end. */
  results: Results;
  run: (step: TestStep) => Promise<StepResult>;
};

const NOT_BUILT: StepResult = {
  passed: 0,
  failed: 1,
  skipped: 0,
  ms: 0,
  note: "not run: the contracts do not build",
};

/** Long enough to see how much of the machine the last step uses. */
const ASK_MS = 3_000;

/**
 * Runs steps side by side, in their order. A step that needs the contracts waits for the step {@link BUILD},
 * if there is one, and later steps without that need go first. If the build fails, steps that need the contracts fail too.
 */
export async function runInLanes(
  steps: readonly TestStep[],
  { lanes, hasRoom = () => false, askMs = ASK_MS, signal, results, run }: RunInLanesParameters,
): Promise<void> {
  const waiting = [...steps];
  const built = Promise.withResolvers<void>();
  let isBuilt = steps.some(({ name }) => name === BUILD) ? undefined : true;
  const next = async (): Promise<TestStep | undefined> => {
    if (isBuilt === undefined && waiting.every(({ needsBuild }) => needsBuild)) await built.promise;
    const at = waiting.findIndex(({ needsBuild }) => isBuilt !== undefined || !needsBuild);
    return waiting.splice(at, 1)[0];
  };
  const play = async (step: TestStep) => {
    const result = step.needsBuild && isBuilt === false ? NOT_BUILT : await run(step);
    results.push({ step, result });
    if (step.name !== BUILD) return;
    isBuilt = result.failed === 0;
    built.resolve();
  };
  const lane = async () => {
    for (let step = await next(); step && !signal.aborted; step = await next()) await play(step);
  };
  const more: Promise<void>[] = [];
  const asking = setInterval(() => {
    const isReady = isBuilt !== undefined || waiting.some(({ needsBuild }) => !needsBuild);
    if (waiting.length === 0 || !isReady || signal.aborted || !hasRoom()) return;
    more.push(next().then((step) => step && play(step)));
  }, askMs);
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    clearInterval(asking);
  }
  await Promise.all(more);
}
