import { plainJson } from "tallystick-runtime/plainText";
import { createProgress, type Tell } from "../cli/progress.ts";

/** Reports an upgrade: to people on stderr, to programs as lines of JSON on stdout. */
export type UpgradeReport = {
  /**
   * Runs a step. When it is done, its fields are reported to programs and `detail` to people. `tell` reports
   * progress in between.
   */
  step: <T>(
    name: string,
    work: (
      tell: (text: string, fields: Fields) => void,
    ) => Promise<{ detail: string; fields: Fields; value: T }>,
  ) => Promise<T>;
  /** Reports something that is not a step. */
  note: (text: string, fields: Fields) => void;
};

type Fields = Record<string, unknown>;

/** Milliseconds between two lines about one step. */
const EVERY_MS = 1_000;

export function createUpgradeReport({ json = false }: { json?: boolean | undefined }): UpgradeReport {
  const progress = createProgress({ silent: json });
  const line = (fields: Fields) => {
    if (json) process.stdout.write(`${plainJson(fields)}\n`);
  };
  return {
    step: (name, work) =>
      progress.step(name, async (tell: Tell) => {
        let told = Number.NEGATIVE_INFINITY;
        const { detail, fields, value } = await work((text, fields) => {
          tell(text);
          if (performance.now() - told < EVERY_MS) return;
          told = performance.now();
          line({ step: name, done: false, ...fields });
        });
        line({ step: name, done: true, ...fields });
        return { detail, value };
      }),
    note: (text, fields) => {
      if (json) line(fields);
      else process.stderr.write(`${text}\n`);
    },
  };
}
