// The supervisor is a small process that starts other processes and ends them when its owner ends. It runs in
// its own session, so neither Ctrl-C nor a kill of the owner's process group reaches it. It notices the end
// of its owner by the closed IPC channel, even if SIGKILL ended the owner. So nothing that a demo or a test
// starts stays behind.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fchmodSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { ProcessSpec, SupervisorReply, SupervisorRequest } from "./messages.ts";
import { rotateLog } from "./rotateLog.ts";

type Kept = { spec: ProcessSpec; pid: number; ended: Promise<void> };

/** How long to wait after each signal when the owner is gone, in milliseconds. */
const ABANDONED_MS = 1_500;

const kept = new Map<string, Kept>();
const starting = new Set<Promise<number>>();
const removeAtEnd: string[] = [];
let closing: Promise<void> | undefined;

function tell(reply: SupervisorReply): void {
  if (process.connected) process.send?.(reply, undefined, undefined, () => {});
}

/** Starts a process as the leader of a new process group, so that its children can be ended with it. */
async function start(spec: ProcessSpec): Promise<number> {
  if (closing) throw new Error("the supervisor is closing");
  if (kept.has(spec.name)) throw new Error(`${spec.name} is running already`);
  // A process may write anything to its log, also a key of its RPC.
  const log = openSync(spec.logFile, "a", 0o600);
  fchmodSync(log, 0o600);
  let child: ChildProcess;
  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ["ignore", log, log],
      ...spec.user,
    });
  } finally {
    closeSync(log);
  }
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const pid = child.pid as number;
  const rotation = keepLogShort(spec);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      // The leader has ended, so the rest of its group is ended too.
      signalGroup(pid, "SIGKILL");
      clearInterval(rotation);
      kept.delete(spec.name);
      resolve();
      tell({ kind: "exit", name: spec.name, pid, code, signal });
    });
  });
  kept.set(spec.name, { spec, pid, ended });
  return pid;
}

/** Empties a log regularly, if it has a limit. Otherwise it would fill the disk of a node that runs for months. */
function keepLogShort({ logFile, logLimit }: ProcessSpec): NodeJS.Timeout | undefined {
  if (logLimit === undefined) return undefined;
  let isBusy = false;
  return setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    // Nobody can be told about an error here. The next check tries again.
    void rotateLog(logFile, logLimit.bytes)
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  }, logLimit.everyMs).unref();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of that group is left.
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}

/** Sends a process its stop signals, and SIGKILL at the end. @param maxMs the longest wait after each signal */
async function stop({ spec, pid, ended }: Kept, maxMs = Number.POSITIVE_INFINITY): Promise<void> {
  const send = spec.stopAlone ? signalOne : signalGroup;
  for (const { signal, waitMs } of spec.stop ?? [{ signal: "SIGTERM", waitMs: 5_000 }]) {
    send(pid, signal);
    if (await endsWithin(ended, Math.min(waitMs, maxMs))) return;
  }
  signalOne(pid, "SIGKILL");
  signalGroup(pid, "SIGKILL");
  await ended;
}

async function endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([ended.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Ends all processes and removes the files that were to be removed. Normally the process that was started
 * last ends first, so that the users of a database end before the database. When the owner is gone, all
 * processes end at the same time.
 */
function close(inOrder: boolean): Promise<void> {
  closing ??= (async () => {
    // Processes that are just starting are not in `kept` yet, so they are awaited. No new ones start.
    await Promise.allSettled(starting);
    const all = [...kept.values()].reverse();
    if (inOrder) for (const one of all) await stop(one);
    else await Promise.all(all.map((one) => stop(one, ABANDONED_MS)));
    for (const path of removeAtEnd) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  })();
  return closing;
}

async function answer(request: SupervisorRequest): Promise<number | undefined> {
  switch (request.kind) {
    case "start": {
      const started = start(request.spec);
      starting.add(started);
      return await started.finally(() => starting.delete(started));
    }
    case "stop": {
      const one = kept.get(request.name);
      if (one) await stop(one);
      return undefined;
    }
    case "remove-at-end":
      removeAtEnd.push(request.path);
      return undefined;
    case "close":
      await close(true);
      return undefined;
  }
}

process.on("message", (request: SupervisorRequest) => {
  answer(request).then(
    (pid) => {
      tell({ kind: "done", id: request.id, ...(pid !== undefined && { pid }) });
      if (request.kind === "close") process.disconnect();
    },
    (error: Error) => tell({ kind: "failed", id: request.id, message: error.message }),
  );
});
process.on("disconnect", () => void close(false).finally(() => process.exit(0)));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => void close(false).finally(() => process.exit(0)));
}
tell({ kind: "ready" });
