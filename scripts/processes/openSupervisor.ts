import { type ChildProcess, spawn } from "node:child_process";
import { TallystickError } from "tallystick-protocol/errors";
import { childEnvironment } from "./childEnvironment.ts";
import type { ProcessExit, ProcessSpec, SupervisorReply, SupervisorRequest } from "./messages.ts";
import { nodeProgram } from "./nodeProgram.ts";

/** Runs processes that always end with this process. */
export type Supervisor = {
  /** Starts a process and returns its pid; rejects when the program cannot be run. */
  start: (spec: ProcessSpec) => Promise<number>;
  /** Ends a process by its own stop signals; nothing happens when it is not running. */
  stop: (name: string) => Promise<void>;
  /** Removes a file or folder after everything has ended, also when this process is killed. */
  removeAtEnd: (path: string) => Promise<void>;
  /** Calls back for each process that ends, for any reason. Returns a function that stops the calls. */
  onExit: (listener: (exit: ProcessExit) => void) => () => void;
  /** Ends everything, the last started first, and removes what was to be removed. */
  close: () => Promise<void>;
};

/**
 * Starts a supervisor (supervisor.ts). It ends all its processes when this process ends, whether by `close`, by an exit, by a
 * crash or by SIGKILL. It does not keep this process running.
 */
export async function openSupervisor(): Promise<Supervisor> {
  const child = spawnSupervisor();
  const waiting = new Map<
    number,
    { resolve: (pid: number | undefined) => void; reject: (e: Error) => void }
  >();
  const listeners = new Set<(exit: ProcessExit) => void>();
  const groups = new Map<string, number>();
  let nextId = 1;
  let isClosing = false;
  let isGone = false;

  const opened = Promise.withResolvers<void>();
  opened.promise.catch(() => {});
  const gone = Promise.withResolvers<void>();
  child.on("message", (reply: SupervisorReply) => {
    if (reply.kind === "ready") return opened.resolve();
    if (reply.kind === "exit") {
      // The last messages may come after the end was told.
      if (isGone) return;
      if (groups.get(reply.name) === reply.pid) groups.delete(reply.name);
      for (const listener of listeners) listener(reply);
      return;
    }
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === "done") call?.resolve(reply.pid);
    else call?.reject(new Error(reply.message));
  });
  child.on("error", opened.reject);
  child.on("exit", () => {
    // The supervisor itself was killed, so this process ends the others.
    for (const pid of groups.values()) killGroup(pid);
    isGone = true;
    gone.resolve();
    for (const call of waiting.values()) call.reject(new Error("the supervisor is gone"));
    opened.reject(new Error("the supervisor ended while starting"));
    if (isClosing) return;
    // Nobody else tells their end. Without this, their owner would wait for ever without its services.
    for (const [name, pid] of groups)
      for (const listener of listeners) listener({ name, pid, code: null, signal: "SIGKILL" });
  });

  async function ask(
    request: SupervisorRequest extends infer R ? (R extends unknown ? Omit<R, "id"> : never) : never,
  ) {
    const id = nextId++;
    hold(child);
    try {
      return await new Promise<number | undefined>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.send({ ...request, id } as SupervisorRequest, (error) => {
          if (error) reject(error);
        });
      });
    } finally {
      if (waiting.size === 0) letGo(child);
    }
  }

  await opened.promise;
  letGo(child);

  return {
    start: async (spec) => {
      try {
        const pid = (await ask({ kind: "start", spec })) as number;
        groups.set(spec.name, pid);
        return pid;
      } catch (cause) {
        throw new TallystickError({
          code: "process_start_failed",
          message: `${spec.name} could not be started: ${(cause as Error).message}`,
          hint: `Check that ${spec.command} exists and may be run.`,
          cause,
        });
      }
    },
    stop: async (name) => {
      await ask({ kind: "stop", name });
    },
    removeAtEnd: async (path) => {
      await ask({ kind: "remove-at-end", path });
    },
    onExit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      isClosing = true;
      if (!child.connected) return;
      // The end of the process may be reported before its last message.
      await Promise.race([gone.promise, ask({ kind: "close" })]);
      hold(child);
      await gone.promise;
    },
  };
}

function spawnSupervisor(): ChildProcess {
  return spawn(process.execPath, nodeProgram("scripts/processes/supervisor.ts"), {
    cwd: "/",
    detached: true,
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}

/** Keeps the event loop running while a call waits for its answer. {@link letGo} ends this. */
function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of that group is left.
  }
}
