import { predictOutput } from "../checks/predictOutput.ts";
import { mustPrint } from "../checks/programOutput.ts";
import { defineCapability } from "../defineCapability.ts";

/** Extra time after the time limit for the seller to stop a program, in milliseconds. */
const GRACE_MS = 500;
const DEFAULT_TIMEOUT_MS = 5000;

/** Programs that choose their exit code. `parse_args` exits with 2 when an argument is missing. */
const EXITS = /\bexit(?:Code)?\b|\bquit\b|SystemExit|_exit|\babort\b|\bkill\b|parse_args|unittest|pytest/;

/**
 * Programs that may print a traceback and still succeed: they catch the error, or it happens in a thread or a
 * destructor.
 */
const SURVIVES =
  /traceback|logging|stderr|warn|thread|async|concurrent|multiprocessing|__del__|weakref|atexit/i;

/** Exit codes that have a meaning of their own: success, an uncaught exception, the time limit. */
const [SUCCESS, EXCEPTION, TIMED_OUT] = [0, 1, 124];

/** `code.execute.sandboxed`: runs a program that may neither read files nor reach the network. */
export const codeExecute = defineCapability({
  id: "code.execute.sandboxed",
  summary: "what a program prints, run in a sandbox",
  input: {
    type: "object",
    properties: {
      code: { type: "string", minLength: 1, maxLength: 100_000 },
      language: { enum: ["python", "javascript"] },
      stdin: { type: "string", maxLength: 1_000_000 },
      timeout_ms: { type: "integer", minimum: 1, maximum: 30_000 },
    },
    required: ["code"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      stdout: { type: "string", maxLength: 10_000_000 },
      stderr: { type: "string", maxLength: 10_000_000 },
      exit_code: { type: "integer", minimum: 0, maximum: 255 },
      duration_ms: { type: "integer", minimum: 0 },
      truncated: { type: "boolean" },
    },
    required: ["stdout", "stderr", "exit_code", "duration_ms", "truncated"],
  },
  checks: {
    kept_the_time_limit: {
      since: "v0",
      test: ({ input, output }) => {
        const limit = input.timeout_ms ?? DEFAULT_TIMEOUT_MS;
        return output.duration_ms <= limit + GRACE_MS
          ? undefined
          : `took ${output.duration_ms} of ${limit} ms`;
      },
    },
    has_a_known_exit: {
      since: "v1",
      test: ({ input, output }) => {
        const exits = EXITS.test(input.code);
        const isKnown = [SUCCESS, EXCEPTION, TIMED_OUT].includes(output.exit_code);
        // The system stops a program that takes too much memory or crashes. The code is then 128 and the signal.
        const isStopped = output.exit_code > 128 && output.exit_code < 160 && output.stderr.trim() !== "";
        return isKnown || exits || isStopped
          ? undefined
          : `ended with exit code ${output.exit_code}, which the program does not set`;
      },
    },
    agrees_with_its_errors: {
      since: "v1",
      test: ({ input, output }) => {
        const exits = EXITS.test(input.code);
        if (output.exit_code === EXCEPTION && !exits && output.stderr.trim() === "") {
          return "failed, and stderr is empty";
        }
        const hasTraceback = /^Traceback \(most recent call last\):$/m.test(output.stderr);
        const handles = SURVIVES.test(input.code);
        if (output.exit_code === SUCCESS && hasTraceback && !handles)
          return "succeeded, but stderr has a traceback";
        return undefined;
      },
    },
    agrees_with_its_time: {
      since: "v1",
      test: ({ input, output }) => {
        const limit = input.timeout_ms ?? DEFAULT_TIMEOUT_MS;
        const exits = /124/.test(input.code);
        if (output.exit_code === TIMED_OUT && !exits && output.duration_ms < limit * 0.9) {
          return `reports a timeout after ${output.duration_ms} of ${limit} ms`;
        }
        return undefined;
      },
    },
    printed_what_it_must: {
      since: "v1",
      test: ({ input, output }) => {
        if (output.exit_code !== SUCCESS || isCut(output)) return undefined;
        // Some sandboxes leave out the empty lines at the beginning and the end.
        const lines = mustPrint(input.code, input.language ?? "python").filter((line) => line.trim() !== "");
        // A prompt, or a print that ends without a line end, stands before the next line.
        const mayPrecede = /\bend\s{0,9}=|\binput\s{0,9}\(\s{0,9}[^)\s]|write/.test(input.code);
        const missing = missingLine(lines, output.stdout, mayPrecede);
        return missing === undefined ? undefined : `does not print ${JSON.stringify(missing.slice(0, 80))}`;
      },
    },
    computed_what_it_prints: {
      since: "v1",
      test: ({ input, output }) => {
        const { code, language = "python", stdin = "" } = input;
        const expected = predictOutput(code, language, stdin);
        if (expected === undefined) return undefined;
        const stdout = output.stdout.replaceAll("\r\n", "\n");
        // Only the beginning of a cut output is compared. It is shorter than LEAST_CUT, because LEAST_CUT also counts
        // stderr, so stdout may be shorter.
        const isSame = isCut(output)
          ? stdout.slice(0, LEAST_CUT / 2) === expected.slice(0, LEAST_CUT / 2)
          : stdout.trimEnd() === expected.trimEnd();
        const isIt = output.exit_code === SUCCESS && isSame;
        return isIt ? undefined : `does not print ${JSON.stringify(expected.slice(0, 80))}`;
      },
    },
    printed_nothing_unasked: {
      since: "v1",
      test: ({ input, output }) => {
        const mayPrint =
          /print|write|stdout|log|console|exec|eval|import|require|input|dump|show|dir|info|help/;
        return output.stdout === "" || mayPrint.test(input.code)
          ? undefined
          : "printed something, but the program has nothing that prints";
      },
    },
  },
});

/**
 * The shortest output that counts as cut: the characters of stdout and stderr together. Nobody cuts a shorter output.
 * If a shorter output says `truncated`, that does not excuse a missing line.
 */
const LEAST_CUT = 1_000;

function isCut({
  stdout,
  stderr,
  truncated,
}: {
  stdout: string;
  stderr: string;
  truncated: boolean;
}): boolean {
  return truncated && stdout.length + stderr.length >= LEAST_CUT;
}

/**
 * The first of `lines` that was not printed. The lines must be printed in this order, and each printed line counts
 * once. With `mayPrecede`, a printed line only has to end with the line.
 */
function missingLine(lines: string[], stdout: string, mayPrecede: boolean): string | undefined {
  const printed = stdout.split(/\r?\n/);
  let at = 0;
  for (const line of lines) {
    const isIt = (text: string | undefined): boolean =>
      (mayPrecede ? text?.endsWith(line) : text === line) ?? false;
    while (at < printed.length && !isIt(printed[at])) at++;
    if (at === printed.length) return line;
    at++;
  }
  return undefined;
}
