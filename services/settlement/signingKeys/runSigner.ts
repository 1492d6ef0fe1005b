import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { TallystickError } from "tallystick-protocol/errors";

/** A program and its arguments. No shell reads them. */
export type SignerCommand = readonly [program: string, ...args: string[]];

export type RunSignerParameters = {
  command: SignerCommand;
  /** The command's input. */
  input: string;
  /** How long it may take, in milliseconds. */
  deadlineMs: number;
  signal?: AbortSignal;
};

/** Most bytes that a command may print. */
const MAX_OUTPUT = 4_096;

/** The most characters of a command's error output that are repeated. It may contain secrets. */
const MAX_COMPLAINT = 120;

/**
 * The variables that a command gets: those of the machine, and those whose names begin with SIGNER_. It gets none of
 * this process's keys.
 */
const GIVEN = /^(?:PATH|HOME|LANG|TZ|TMPDIR|SIGNER_[A-Z0-9_]*)$/;

/**
 * Runs a command that signs, and returns what it printed. No shell reads it. It gets none of this process's keys.
 *
 * @throws TallystickError `signer_failed` when it cannot be run, ends with an error, prints too much, or takes too long
 */
export async function runSigner({
  command,
  input,
  deadlineMs,
  signal,
}: RunSignerParameters): Promise<string> {
  const [program, ...args] = command;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => GIVEN.test(name)));
  signal?.throwIfAborted();
  // The command has its own process group, so that its child processes end with it.
  const child = spawn(program, args, { env, shell: false, detached: true, stdio: "pipe", windowsHide: true });
  const end = (): void => endGroup(child);
  const output: Buffer[] = [];
  let printed = 0;
  let complaint = "";
  try {
    return await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(failed(`it took longer than ${deadlineMs / 1_000} s`)),
        deadlineMs,
      );
      const stop = (): void => reject(failed("the service stops"));
      signal?.addEventListener("abort", stop, { once: true });
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      };
      child.on("error", (error) => {
        settle();
        reject(failed(error.message));
      });
      // A process without free file handles makes no pipes. Then the error above follows, and nothing else.
      if (child.stdout === undefined) return;
      child.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.length;
        if (printed > MAX_OUTPUT) reject(failed(`it printed more than ${MAX_OUTPUT} bytes`));
        else output.push(chunk);
      });
      child.stderr.on("data", (chunk: Buffer) => {
        if (complaint.length < MAX_COMPLAINT) complaint += chunk.toString("latin1");
      });
      // The command need not read its input.
      child.stdin.on("error", () => {});
      child.stdin.end(input);
      child.on("close", (code, by) => {
        settle();
        if (code === 0) resolve(Buffer.concat(output).toString("latin1"));
        else reject(failed(`it ended with ${by ?? code}${said(complaint)}`));
      });
    });
  } finally {
    end();
  }
}

function endGroup({ pid, exitCode, signalCode }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The command ended meanwhile.
  }
}

/** The printable beginning of the error output. */
function said(complaint: string): string {
  const [line = ""] = complaint.trim().slice(0, MAX_COMPLAINT).split("\n");
  return line === "" ? "" : `: ${line.replace(/[^\x20-\x7e]/g, "?")}`;
}

function failed(reason: string): TallystickError {
  return new TallystickError({
    code: "signer_failed",
    message: `The command in ANCHOR_SIGNER gave no signature: ${reason}.`,
    hint: "Run it by hand with a line of JSON (docs/settlement/operations.md). The service tries again by itself.",
  });
}
