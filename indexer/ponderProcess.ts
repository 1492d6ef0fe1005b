import type { Registry } from "prom-client";

/**
 * The few things of the surrounding Ponder process that Ponder has no API for, in one place. Everything is optional, so
 * that the same code runs in tests, without Ponder.
 */
type PonderCommon = {
  shutdown?: { abortController: AbortController };
  metrics?: { registry: Registry };
  logger?: { info: (fields: LogFields) => void; warn: (fields: LogFields) => void };
};

/** A log line: a sentence and what belongs to it. Text is no `error`: Ponder's log takes only objects there, and throws. */
export type LogFields = { msg: string; error?: never } & Record<string, string | number | undefined>;

function common(): PonderCommon {
  return (globalThis as { PONDER_COMMON?: PonderCommon }).PONDER_COMMON ?? {};
}

/** Aborts when Ponder begins to shut down. */
export function shutdownSignal(): AbortSignal {
  return common().shutdown?.abortController.signal ?? new AbortController().signal;
}

/** Writes to Ponder's own log, in its format. */
export function logWarning(fields: LogFields): void {
  common().logger?.warn(fields);
}

export function logInfo(fields: LogFields): void {
  common().logger?.info(fields);
}

/** The database schema Ponder was started with: `--schema` outranks DATABASE_SCHEMA. */
export function ponderSchema(): string | undefined {
  return (globalThis as { PONDER_NAMESPACE_BUILD?: { schema: string } }).PONDER_NAMESPACE_BUILD?.schema;
}

/** Where Ponder's `/metrics` come from. */
export function metricsRegistry(): Registry | undefined {
  return common().metrics?.registry;
}

/**
 * Ponder compiles through Vite, whose development server ends the process on SIGTERM before Ponder has released its
 * schema: the next start would wait 25 seconds for the lock to expire. Ponder handles the signal itself; take Vite's hand off.
 */
export function leaveSigtermToPonder(): void {
  for (const listener of process.listeners("SIGTERM")) {
    if (listener.name === "closeServerAndExit") process.off("SIGTERM", listener);
  }
}
