import { Counter, Gauge, type Registry } from "prom-client";
import type { LogSourceError } from "../logPort/errors.ts";
import type { SourceRequest } from "../logPort/logPort.ts";

const REQUESTS = "tallystick_log_requests_total";
const FALLBACKS = "tallystick_log_fallbacks_total";
const UNCHECKED = "tallystick_transfers_unchecked_seconds";

/** What is counted while transfers are read and checked. */
export type TransferMetrics = {
  /** Counts a request to a source. */
  onRequest: (request: SourceRequest) => void;
  /** Counts a failure of a source, after which the next source was asked. */
  onFallback: (failed: Pick<LogSourceError, "source" | "code">) => void;
  /** A check of transfers against balances was completed, with or without a gap. */
  onChecked: () => void;
  /** A check could not be completed. */
  onUnchecked: () => void;
};

/**
 * Adds to Ponder's `/metrics` the requests to the sources of transfers, and how long no check against balances could be
 * completed. The indexer reads the transfers, so replicas do not have these figures.
 *
 * @param now unix seconds
 */
export function transferMetrics(
  registry: Registry | undefined,
  now = () => Date.now() / 1_000,
): TransferMetrics {
  let uncheckedSince: number | null = null;
  let requests: Counter<"source" | "method" | "outcome"> | undefined;
  let fallbacks: Counter<"source" | "code"> | undefined;
  if (registry !== undefined) {
    // Ponder executes this again in the same process when a file changes.
    for (const name of [REQUESTS, FALLBACKS, UNCHECKED]) registry.removeSingleMetric(name);
    requests = new Counter({
      name: REQUESTS,
      help: "Requests to the sources of the token's transfers; outcome: ok, refused (repeated in smaller parts), limited, failed, stale",
      labelNames: ["source", "method", "outcome"],
      registers: [registry],
    });
    fallbacks = new Counter({
      name: FALLBACKS,
      help: "Reads of transfers in which a source failed, so that the next source was asked; code: the error, such as source_orphaned_block for a source of another chain",
      labelNames: ["source", "code"],
      registers: [registry],
    });
    new Gauge({
      name: UNCHECKED,
      help: "Seconds since checks of transfers against balances began to fail for lack of an answer; 0 while they succeed",
      registers: [registry],
      collect() {
        // At least 1, so that an alert on values above 0 does not miss the first second.
        this.set(uncheckedSince === null ? 0 : Math.max(1, now() - uncheckedSince));
      },
    });
  }
  return {
    onRequest: (request) => requests?.inc(request),
    onFallback: ({ source, code }) => fallbacks?.inc({ source, code }),
    onChecked: () => {
      uncheckedSince = null;
    },
    onUnchecked: () => {
      uncheckedSince ??= now();
    },
  };
}
