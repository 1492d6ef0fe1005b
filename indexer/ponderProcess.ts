import type { Registry } from "prom-client";
import { withoutUrlSecrets } from "tallystick-runtime/withoutUrlSecrets";

/**
 * The parts of the Ponder process that are used although Ponder has no API for them. All of them are optional, so the
 * same code runs in tests without Ponder.
 */
type PonderCommon = {
  shutdown?: { abortController: AbortController };
  metrics?: { registry: Registry };
  logger?: { info: (fields: LogFields) => void; warn: (fields: LogFields) => void };
};

/**
 * A log line: a sentence and its data. `error` must be an object, because Ponder's log throws for a text
 * there.
 */
export type LogFields = { msg: string; error?: never } & Record<string, string | number | undefined>;

function common(): PonderCommon {
  return (globalThis as { PONDER_COMMON?: PonderCommon }).PONDER_COMMON ?? {};
}

/** Aborts when Ponder begins to shut down. */
export function shutdownSignal(): AbortSignal {
  return common().shutdown?.abortController.signal ?? new AbortController().signal;
}

/** Writes to Ponder's own log, in its format. Of a URL in a text it writes only the host, because the rest may be a key. */
export function logWarning(fields: LogFields): void {
  common().logger?.warn(withoutSecrets(fields));
}

export function logInfo(fields: LogFields): void {
  common().logger?.info(withoutSecrets(fields));
}

function withoutSecrets(fields: LogFields): LogFields {
  const texts = Object.entries(fields).map(([name, it]) => [
    name,
    typeof it === "string" ? withoutUrlSecrets(it) : it,
  ]);
  return Object.fromEntries(texts) as LogFields;
}

/** Ponder's database schema. `--schema` has priority over DATABASE_SCHEMA. */
export function ponderSchema(): string | undefined {
  return (globalThis as { PONDER_NAMESPACE_BUILD?: { schema: string } }).PONDER_NAMESPACE_BUILD?.schema;
}

/** The registry of Ponder's `/metrics`. */
export function metricsRegistry(): Registry | undefined {
  return common().metrics?.registry;
}

/** Whether Ponder still reads the history. It never takes back a block of the history. */
export async function isReadingHistory(): Promise<boolean> {
  const live = await metricsRegistry()?.getSingleMetric(LIVE_METRIC)?.get();
  return live?.values.every(({ value }) => value !== 1) ?? false;
}

/** Ponder sets it to 1 when the history is read. */
export const LIVE_METRIC = "ponder_sync_is_realtime";

/**
 * Ponder compiles through Vite. On SIGTERM, Vite's development server ends the process before Ponder has released its
 * schema. Then the next start would wait 25 seconds for the lock to expire. Ponder handles the signal itself, so
 * Vite's listener is removed.
 */
export function leaveSigtermToPonder(): void {
  for (const listener of process.listeners("SIGTERM")) {
    if (listener.name === "closeServerAndExit") process.off("SIGTERM", listener);
  }
}
