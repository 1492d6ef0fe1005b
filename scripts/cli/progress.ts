import { styleText } from "node:util";

/** Shows the progress to a person, on stderr. */
export type Progress = {
  /** Runs a piece of work under a title; `detail` is shown when it is done. Pieces may overlap. */
  step: <T>(title: string, work: (tell: Tell) => Promise<{ detail?: string; value: T }>) => Promise<T>;
  /** A heading between steps. */
  heading: (text: string) => void;
};

/**
 * Reports the progress of a step. A terminal shows the last report. Other outputs get a line from time to time.
 */
export type Tell = (text: string) => void;

/** Without a terminal, a step that runs longer than this prints that it has begun. */
const QUIET_MS = 3_000;
/** Without a terminal, the shortest time between two lines about one step. */
const TELL_EVERY_MS = 30_000;

/**
 * Shows the progress as lines. A step gets a line with its time when it is done. A terminal also shows the running
 * steps below these lines. Other outputs, such as a CI log, also get lines for a step that takes long.
 *
 * @param parameters.silent prints nothing
 */
export function createProgress({
  stream = process.stderr,
  silent = false,
}: {
  stream?: NodeJS.WriteStream;
  silent?: boolean;
} = {}): Progress {
  const live = stream.isTTY === true && !silent;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream });
  const write = (text: string) => {
    if (!silent) stream.write(text);
  };
  const under: { title: string; far: string }[] = [];

  const clear = () => {
    if (live && under.length > 0) write("\r\u001b[2K");
  };
  const draw = () => {
    if (!live || under.length === 0) return;
    const text = `  … ${under.map(({ title, far }) => (far === "" ? title : `${title}: ${far}`)).join(", ")}`;
    write(style("dim", text.slice(0, Math.max(10, (stream.columns ?? 80) - 1))));
  };
  const line = (text: string) => {
    clear();
    write(`${text}\n`);
    draw();
  };

  return {
    heading: (text) => line(`\n${style("bold", text)}`),
    step: async (title, work) => {
      const began = performance.now();
      clear();
      const shown = { title, far: "" };
      under.push(shown);
      draw();
      let told = Number.NEGATIVE_INFINITY;
      const tell = (far: string) => {
        shown.far = far;
        clear();
        draw();
        if (live || performance.now() - told < TELL_EVERY_MS) return;
        told = performance.now();
        clearTimeout(patience);
        line(`  … ${title}: ${far}`);
      };
      const patience = live ? undefined : setTimeout(() => line(`  … ${title}`), QUIET_MS);
      const end = (text: string) => {
        clearTimeout(patience);
        clear();
        under.splice(under.indexOf(shown), 1);
        if (text !== "") write(`${text}\n`);
        draw();
      };
      try {
        const { detail = "", value } = await work(tell);
        const time = style("dim", `${((performance.now() - began) / 1000).toFixed(1)} s`);
        end(`  ${style("green", "✔")} ${title.padEnd(12)} ${detail}${detail === "" ? "" : "  "}${time}`);
        return value;
      } catch (error) {
        end(`  ${style("red", "✘")} ${title}`);
        throw error;
      }
    },
  };
}
