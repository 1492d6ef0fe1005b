/** A request to stop: Ctrl-C, a signal, or an error that makes it useless to continue. */
export type Shutdown = {
  signal: AbortSignal;
  /** Stops everything because of an error. */
  fail: (error: Error) => void;
  /** The exit code for the signal that came, or undefined when none did. */
  exitCode: () => number | undefined;
  /** Removes the signal handlers. */
  release: () => void;
};

/** The reason of an abort by a signal. It is not a failure. */
export class StoppedBySignal extends Error {
  readonly exitCode: number;

  constructor(name: NodeJS.Signals, exitCode: number) {
    super(`stopped by ${name}`);
    this.exitCode = exitCode;
  }
}

const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * One Ctrl-C may arrive several times: from the terminal, from npm and from the bootstrap. All copies come
 * within this time.
 */
const SAME_WISH_MS = 1_500;

/**
 * Turns signals into an AbortSignal, so that work can end in an orderly way. A second signal after a moment
 * means that the user does not want to wait. Then the process exits at once, and the supervisor ends its
 * child processes.
 */
export function watchShutdown(): Shutdown {
  const controller = new AbortController();
  let first = 0;
  const onSignal = (name: NodeJS.Signals) => {
    const code = CODES[name as keyof typeof CODES];
    if (first > 0 && performance.now() - first > SAME_WISH_MS) process.exit(code);
    if (first === 0) first = performance.now();
    controller.abort(new StoppedBySignal(name, code));
  };
  for (const name of Object.keys(CODES)) process.on(name, onSignal);
  return {
    signal: controller.signal,
    fail: (error) => controller.abort(error),
    exitCode: () => {
      const { reason } = controller.signal;
      return reason instanceof StoppedBySignal ? reason.exitCode : undefined;
    },
    release: () => {
      for (const name of Object.keys(CODES)) process.off(name, onSignal);
    },
  };
}

/** Waits until the signal is aborted, and keeps this process running until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const hold = setInterval(() => {}, 60_000);
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(hold);
}
