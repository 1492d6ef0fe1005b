import type { Results } from "./closeOf.ts";
import type { StepResult } from "./runStep.ts";
import { BUILD, type TestStep } from "./steps.ts";

export type RunInLanesParameters = {
  /** How many run at one time. */
  lanes: number;
  /** No further step begins once it is aborted. */
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

/**
 * Runs steps side by side, in their order. A step that needs the contracts waits for the step {@link BUILD},
 * if there is one, and later steps without that need go first. If the build fails, the step fails too.
 */
export async function runInLanes(
  steps: readonly TestStep[],
  { lanes, signal, results, run }: RunInLanesParameters,
): Promise<void> {
  const waiting = [...steps];
  const built = Promise.withResolvers<void>();
  let isBuilt = steps.some(({ name }) => name === BUILD) ? undefined : true;
  const next = async (): Promise<TestStep | undefined> => {
    if (isBuilt === undefined && waiting.every(({ needsBuild }) => needsBuild)) await built.promise;
    const at = waiting.findIndex(({ needsBuild }) => isBuilt !== undefined || !needsBuild);
    return waiting.splice(at, 1)[0];
  };
  const lane = async () => {
    for (let step = await next(); step && !signal.aborted; step = await next()) {
      const result = step.needsBuild && isBuilt === false ? NOT_BUILT : await run(step);
      results.push({ step, result });
      if (step.name !== BUILD) continue;
      isBuilt = result.failed === 0;
      built.resolve();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
