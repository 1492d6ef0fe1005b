import { runCli } from "../../scripts/cli.ts";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";

/** What a command printed, and its exit code. */
export type CommandRun = { code: number; out: string; err: string };

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `tallystick` in the process of the tests, because a separate process costs about a second of
 * processor time. Commands run one after another, because they share the output and the environment of this process.
 *
 * @param environment variables for the command, in addition to the variables of the machine
 */
export function commandHere(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<CommandRun> {
  const run = last.then(() => runAlone([...args], environment));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(args: string[], environment: Record<string, string>): Promise<CommandRun> {
  const before = { env: process.env, exitCode: process.exitCode };
  const said = { out: "", err: "" };
  const restore = [process.stdout, process.stderr].map((stream, n) => keep(stream, said, n ? "err" : "out"));
  process.env = childEnvironment({ NO_COLOR: "1", ...environment });
  process.exitCode = 0;
  try {
    return { code: await runCli(args), ...said };
  } finally {
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const back of restore) back();
  }
}

/** Collects the output to a stream, which is not treated as a terminal meanwhile. Returns a function that undoes this. */
function keep(stream: NodeJS.WriteStream, said: { out: string; err: string }, name: "out" | "err") {
  const names = ["write", "isTTY", "columns"] as const;
  const own = names.map((key) => Object.getOwnPropertyDescriptor(stream, key));
  const put = (key: string, value: unknown) =>
    Object.defineProperty(stream, key, { value, configurable: true, writable: true });
  put("isTTY", false);
  put("columns", undefined);
  put("write", (chunk: string | Uint8Array, ...rest: unknown[]) => {
    said[name] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
    const done = rest.find((it) => typeof it === "function") as (() => void) | undefined;
    done?.();
    return true;
  });
  return () => {
    for (const [n, key] of names.entries()) {
      const descriptor = own[n];
      if (descriptor) Object.defineProperty(stream, key, descriptor);
      else delete (stream as unknown as Record<string, unknown>)[key];
    }
  };
}
