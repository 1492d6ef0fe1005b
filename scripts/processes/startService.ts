import { TallystickError } from "tallystick-protocol/errors";
import { logTail } from "./logTail.ts";
import type { ProcessSpec } from "./messages.ts";
import type { Supervisor } from "./openSupervisor.ts";
import { waitUntil } from "./waitUntil.ts";

/** A process that is ready when it answers. */
export type Service = ProcessSpec & {
  /** Whether the process answers now; an error means no. */
  isReady: (signal: AbortSignal) => Promise<boolean>;
  /** The time limit until it is ready, in milliseconds. Default 120,000. */
  readyWithinMs?: number;
};

/**
 * Starts a service and waits until it answers.
 *
 * @returns its pid
 * @throws TallystickError `service_failed` with the end of its log when it ends or does not answer in time
 */
export async function startService(
  supervisor: Supervisor,
  service: Service,
  signal?: AbortSignal,
): Promise<number> {
  const { isReady, readyWithinMs = 120_000, ...spec } = service;
  const ended = new AbortController();
  const stopListening = supervisor.onExit((exit) => {
    if (exit.name !== spec.name) return;
    const how = exit.signal ?? `code ${exit.code}`;
    ended.abort(serviceError(spec, `${spec.name} ended with ${how} while starting`));
  });
  try {
    const pid = await supervisor.start(spec);
    await waitUntil(isReady, {
      what: `${spec.name} to answer`,
      withinMs: readyWithinMs,
      signal: signal ? AbortSignal.any([signal, ended.signal]) : ended.signal,
    });
    return pid;
  } catch (error) {
    if (error instanceof TallystickError && error.code === "wait_timeout") {
      throw serviceError(spec, error.message, error);
    }
    throw error;
  } finally {
    stopListening();
  }
}

/** The error for a service that failed: what happened, with the end of its log and where the rest is. */
export function serviceError(
  spec: Pick<ProcessSpec, "name" | "logFile">,
  message: string,
  cause?: unknown,
): TallystickError {
  const tail = logTail(spec.logFile, 15);
  return new TallystickError({
    code: "service_failed",
    message: tail === "" ? message : `${message}; the end of its log:\n${tail.replaceAll(/^/gm, "    | ")}`,
    hint: `The whole log is ${spec.logFile}`,
    details: { service: spec.name, logFile: spec.logFile },
    cause,
  });
}
