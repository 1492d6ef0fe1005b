import { Counter, Gauge, type Registry } from "prom-client";
import type { SourceRequest } from "../logPort/logPort.ts";

const REQUESTS = "tallystick_log_requests_total";
const UNCHECKED = "tallystick_transfers_unchecked_seconds";

/** What is counted while transfers are read and checked. */
export type TransferMetrics = {
  /** Counts a request to a source. */
  onRequest: (request: SourceRequest) => void;
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
  let count: Counter<"source" | "method" | "outcome"> | undefined;
  if (registry !== undefined) {
    // Ponder executes this again in the same process when a file changes.
    for (const name of [REQUESTS, UNCHECKED]) registry.removeSingleMetric(name);
    count = new Counter({
      name: REQUESTS,
      help: "Requests to the sources of the token's transfers; outcome: ok, refused (repeated in smaller parts), limited, failed, stale",
      labelNames: ["source", "method", "outcome"],
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
    onRequest: (request) => count?.inc(request),
    onChecked: () => {
      uncheckedSince = null;
    },
    onUnchecked: () => {
      uncheckedSince ??= now();
    },
  };
}
